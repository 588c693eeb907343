// Tasks one at a time: a button or its number key answers and moves on. Words of the corpus reach the page only as text.

import { csvCell } from './csv_cells.js';
import { download } from './download.js';
import { element } from './elements.js';
import { stored } from './storage.js';

const page = JSON.parse(document.getElementById('tasks').textContent);
const tasks = page.tasks;
const main = document.getElementById('main');
const storageKey = `topicfold tasks ${page.id}`;
const UNKNOWN = 0;
let answers = new Map(); // number of the task: answer
let rater = '';
let at = 0; // 0: the beginning; then the numbers of tasks; after them the end

function button(text, action, attributes = {}) {
  return element('button', { type: 'button', on: { click: action }, ...attributes }, text);
}

// ---- what is stored ----

function store() {
  stored((storage) => storage.setItem(storageKey, JSON.stringify({ rater, answers: [...answers] })));
}

function highestAnswer(task) {
  return task.kind === 'intrusion' ? task.words.length : page.answers.length;
}

function isAnswer(number, value) {
  const task = tasks[number - 1];
  return task !== undefined && Number.isInteger(value) && value >= UNKNOWN && value <= highestAnswer(task);
}

function restore() {
  try {
    const answered = JSON.parse(stored((storage) => storage.getItem(storageKey)) || '{}');
    rater = typeof answered.rater === 'string' ? answered.rater : '';
    answers = new Map((Array.isArray(answered.answers) ? answered.answers : []).filter(([number, value]) => isAnswer(number, value)));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    stored((storage) => storage.removeItem(storageKey)); // not ours
  }
}

// ---- the file that is sent back ----

function answersAsCsv() {
  const rows = [...answers].sort((a, b) => a[0] - b[0]).map(([number, value]) => [page.id, csvCell(rater), number, value]);
  return [['tasks', 'rater', 'task', 'answer'], ...rows].map((row) => `${row.join(',')}\n`).join('');
}

function downloadAnswers() {
  const name = rater.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
  download(`answers-${name || 'unnamed'}.csv`, answersAsCsv());
}

// ---- the three kinds of pages ----

function drawBeginning() {
  const input = element('input', { type: 'text', id: 'rater', maxlength: '80', autocomplete: 'name', value: rater });
  const problem = element('p', { role: 'alert', class: 'problem' });
  const start = (event) => {
    event.preventDefault();
    rater = input.value.trim();
    if (!rater) {
      problem.textContent = 'Please enter a name, so that your answers are not mixed up with those of others.';
      input.focus();
      return;
    }
    store();
    const first = tasks.findIndex((_, i) => !answers.has(i + 1));
    go(first < 0 ? tasks.length + 1 : first + 1);
  };
  main.append(
    element('h2', {}, 'Judge topics'),
    element(
      'p',
      {},
      'A computer has sorted words into topics. You are asked how much sense they make to you. ' +
        'There are no trick questions, and what counts is your own view.',
    ),
    element(
      'ul',
      {},
      element('li', {}, 'Press a button, or the number key in front of it. The next task follows at once.'),
      element('li', {}, 'Go back with the button or the left arrow key to change an answer.'),
      element('li', {}, 'Answers stay in this browser. At the end you download them as a file to send back.'),
    ),
    element(
      'form',
      { on: { submit: start } },
      element('label', { for: 'rater' }, 'Your name, or any name that is yours alone'),
      input,
      problem,
      element('button', { id: 'start', class: 'main' }, answers.size ? 'Continue' : 'Start'),
    ),
  );
  if (answers.size)
    main.append(element('p', {}, button('Start again as another person: delete these answers', startAfresh, { id: 'afresh' })));
}

function startAfresh() {
  if (!confirm('Delete all answers on this page?')) return;
  answers.clear();
  rater = '';
  stored((storage) => storage.removeItem(storageKey));
  go(0);
}

function choice(number, value, text) {
  const chosen = answers.get(number) === value;
  return button([element('kbd', {}, String(value)), element('span', {}, text)], () => answer(value), {
    class: value === UNKNOWN ? 'choice unknown' : 'choice',
    'aria-pressed': String(chosen),
  });
}

function drawTask(number) {
  const task = tasks[number - 1];
  const isRating = task.kind === 'rating';
  const offered = isRating ? page.answers : task.words;
  main.append(
    element('h2', { id: 'question', tabindex: '-1' }, page.questions[task.kind]),
    isRating
      ? element(
          'p',
          { id: 'words' },
          task.words.map((word) => element('span', {}, word)),
        )
      : '',
    element(
      'div',
      { class: isRating ? 'choices scale' : 'choices', role: 'group', 'aria-labelledby': 'question' },
      offered.map((text, i) => choice(number, i + 1, text)),
    ),
    element('div', { class: 'choices' }, choice(number, UNKNOWN, 'I do not know enough of these words')),
    element(
      'nav',
      { 'aria-label': 'Tasks' },
      button('← Back', () => go(at - 1), { id: 'back' }),
      button(answers.has(number) ? 'Next →' : 'Skip →', () => go(at + 1), { id: 'next' }),
    ),
  );
}

function drawEnd() {
  const open = tasks.length - answers.size;
  main.append(
    element('h2', { id: 'question', tabindex: '-1' }, open ? 'Not quite done' : 'Thank you!'),
    element(
      'p',
      {},
      open
        ? `${open} of ${tasks.length} tasks have no answer yet. You can go back to them, or send what you have.`
        : 'All tasks have an answer. Download them and send the file back.',
    ),
    element(
      'nav',
      { 'aria-label': 'Tasks' },
      button('Download answers', downloadAnswers, { id: 'download', class: 'main', disabled: answers.size === 0 }),
      open ? button('First task without an answer', () => go(tasks.findIndex((_, i) => !answers.has(i + 1)) + 1), { id: 'open' }) : null,
      button('← Back', () => go(at - 1), { id: 'back' }),
    ),
  );
}

function answer(value) {
  answers.set(at, value);
  store();
  go(at + 1);
}

function go(to) {
  at = Math.min(Math.max(to, 0), tasks.length + 1);
  main.replaceChildren();
  if (at === 0) drawBeginning();
  else if (at > tasks.length) drawEnd();
  else drawTask(at);
  const where = at >= 1 && at <= tasks.length ? `Task ${at} of ${tasks.length}` : `${tasks.length} tasks`;
  document.getElementById('progress').textContent = `${where}, ${answers.size} answered`;
  document.querySelector('#bar span').style.setProperty('width', `${(100 * answers.size) / tasks.length}%`);
  (document.getElementById('question') || main).focus({ preventScroll: true });
  scrollTo(0, 0);
}

document.addEventListener('keydown', (event) => {
  if (at === 0 || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === 'ArrowLeft') go(at - 1);
  else if (event.key === 'ArrowRight') go(at + 1);
  else if (at <= tasks.length && /^\d$/.test(event.key) && isAnswer(at, Number(event.key))) answer(Number(event.key));
  else return;
  event.preventDefault();
});

document.getElementById('corpus-name').textContent = page.name;

// If a page from disk asks for its storage while it loads, Chromium sometimes gives it an empty one for good.
addEventListener('load', () =>
  setTimeout(() => {
    restore();
    go(0);
    document.documentElement.dataset.ready = 'yes';
  }, 100),
);
