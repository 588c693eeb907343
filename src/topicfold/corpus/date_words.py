"""The words of dates in eight languages: names of months and days, and the small words between them."""

from __future__ import annotations

import unicodedata

__all__ = ["FILLERS", "MONTHS", "WEEKDAYS", "folded"]


def folded(text: str) -> str:
    """Text in lower case without accents, for comparisons.

    >>> folded("Février")
    'fevrier'
    """
    if text.isascii():
        return text.lower()
    return "".join(mark for mark in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(mark))


# In the order English, German, French, Spanish, Italian, Portuguese, Dutch, Russian; short forms next to the full ones
_MONTHS = """
january jan januar jänner janvier janv enero ene gennaio gen janeiro januari января январь янв
february feb februar février févr fév febrero febbraio fevereiro fev februari февраля февраль фев февр
march mar märz mär maerz mrz mars marzo março maart mrt марта март мар
april apr avril avr abril abr aprile апреля апрель апр
may mai mayo maggio mag maio mei мая май
june jun juni juin junio giugno giu junho июня июнь июн
july jul juli juillet juil julio luglio lug julho июля июль июл
august aug août agosto ago ags augustus августа август авг
september sep sept septembre septiembre setiembre settembre set setembro сентября сентябрь сен сент
october oct oktober okt octobre octubre ottobre ott outubro out октября октябрь окт
november nov novembre noviembre novembro ноября ноябрь ноя нояб
december dec dezember dez décembre déc diciembre dic dicembre dezembro декабря декабрь дек
"""
_WEEKDAYS = """
monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
lunes martes miércoles jueves viernes sábado domingo mié jue vie sáb dom
lunedì martedì mercoledì giovedì venerdì sabato domenica gio sab
segunda terça quarta quinta sexta feira seg ter qua qui sex
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo
понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс
"""
_FILLERS = "st nd rd th er ter of the on at den der le el il de del di do da a o à às um uhr om uur ore h г года год"

MONTHS = {folded(word): number for number, line in enumerate(_MONTHS.strip().splitlines(), 1) for word in line.split()}
WEEKDAYS = frozenset(folded(_WEEKDAYS).split())
FILLERS = frozenset(folded(_FILLERS).split())
