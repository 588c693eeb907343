// The page comes to life.

document.getElementById('corpus-name').textContent = report.name;
document.getElementById('views').append(
  ...Object.entries(views).filter(([, view]) => view.tab).map(([name, view]) => element('a', { href: address(name) }, view.tab)),
);
document.getElementById('skip').addEventListener('click', () => document.getElementById('main').focus());
drawSide();
addEventListener('hashchange', () => {
  show();
  scrollTo(0, 0);
  document.getElementById('main').focus({ preventScroll: true });
});
show();
document.documentElement.dataset.ready = 'yes';
