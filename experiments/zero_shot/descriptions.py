"""The names of the classes of six corpora, spelled out. Written before any document was classified."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["AGNEWS", "DEBIAN_SECTIONS", "NEWSGROUPS", "REUTERS_TOPICS", "SEARCH_SNIPPETS", "STACK_OVERFLOW"]

NEWSGROUPS: Mapping[str, str] = {
    "alt.atheism": "atheism",
    "comp.graphics": "computer graphics",
    "comp.os.ms-windows.misc": "Microsoft Windows operating system",
    "comp.sys.ibm.pc.hardware": "IBM PC computer hardware",
    "comp.sys.mac.hardware": "Apple Macintosh computer hardware",
    "comp.windows.x": "X Window System",
    "misc.forsale": "items for sale",
    "rec.autos": "cars and automobiles",
    "rec.motorcycles": "motorcycles",
    "rec.sport.baseball": "baseball",
    "rec.sport.hockey": "hockey",
    "sci.crypt": "cryptography and encryption",
    "sci.electronics": "electronics",
    "sci.med": "medicine and health",
    "sci.space": "space and astronomy",
    "soc.religion.christian": "Christianity",
    "talk.politics.guns": "politics of guns",
    "talk.politics.mideast": "politics of the Middle East",
    "talk.politics.misc": "politics",
    "talk.religion.misc": "religion",
}

REUTERS_TOPICS: Mapping[str, str] = {
    "acq": "mergers and acquisitions",
    "crude": "crude oil",
    "earn": "earnings and earnings forecasts",
    "grain": "grain",
    "interest": "interest rates",
    "money-fx": "money and foreign exchange",
    "ship": "shipping",
    "trade": "trade",
}

DEBIAN_SECTIONS: Mapping[str, str] = {
    "admin": "utilities to administer system resources and manage user accounts",
    "comm": "programs to use a modem and other communication programs",
    "database": "database servers and clients",
    "devel": "development utilities, compilers and development environments",
    "editors": "software to edit files, text editors and programming environments",
    "electronics": "electronics, circuit design and simulation",
    "fonts": "font packages",
    "games": "games, programs to spend a nice time with",
    "gnome": "the GNOME desktop environment",
    "gnu-r": "packages for GNU R, a statistical computation system",
    "graphics": "editors, viewers and converters of images and graphics files",
    "hamradio": "software for ham radio operators",
    "httpd": "web servers and their modules",
    "interpreters": "interpreters for interpreted languages",
    "java": "Java programs and libraries",
    "javascript": "JavaScript programs and libraries",
    "kde": "the KDE desktop environment",
    "libs": "libraries that make other programs work",
    "lisp": "Lisp programming language and libraries",
    "mail": "programs to route, read and compose e-mail messages",
    "math": "mathematics software",
    "net": "network daemons and clients to connect to the internet",
    "ocaml": "OCaml programming language and libraries",
    "otherosfs": "emulators and software to read foreign file systems",
    "perl": "Perl modules and the Perl programming language",
    "php": "PHP programming language and libraries",
    "python": "Python programming language and libraries",
    "ruby": "Ruby programming language and libraries",
    "science": "basic tools for scientific work",
    "sound": "utilities to deal with sound: mixers, players, recorders",
    "tex": "the TeX and LaTeX typesetting software",
    "text": "utilities to format and print text documents",
    "utils": "utilities for file and disk manipulation, backup and archive tools, system monitoring",
    "vcs": "version control systems and related utilities",
    "video": "video viewers, editors, recording and streaming",
    "web": "web browsers, download tools and other web software",
    "x11": "X servers, window managers and X programs",
}

AGNEWS: Mapping[str, str] = {
    "World": "world news and politics",
    "Sports": "sports",
    "Business": "business",
    "Sci/Tech": "science and technology",
}

# The classes of these two corpora are numbers; the names are those of their publications.
SEARCH_SNIPPETS: Mapping[str, str] = {
    "1": "business",
    "2": "computers",
    "3": "culture, arts and entertainment",
    "4": "education and science",
    "5": "engineering",
    "6": "health",
    "7": "politics and society",
    "8": "sports",
}

STACK_OVERFLOW: Mapping[str, str] = {
    "1": "wordpress",
    "2": "oracle",
    "3": "svn",
    "4": "apache",
    "5": "excel",
    "6": "matlab",
    "7": "visual studio",
    "8": "cocoa",
    "9": "osx",
    "10": "bash",
    "11": "spring",
    "12": "hibernate",
    "13": "scala",
    "14": "sharepoint",
    "15": "ajax",
    "16": "qt",
    "17": "drupal",
    "18": "linq",
    "19": "haskell",
    "20": "magento",
}
