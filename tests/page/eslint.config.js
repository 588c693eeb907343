// ESLint for the page's scripts and their tests. Layout is left to Prettier, and the length of lines to scripts/check_page.py.

import js from '@eslint/js';

// What the scripts use of a browser, and d3.
const PAGE = `
  addEventListener atob Blob cancelAnimationFrame confirm d3 DecompressionStream devicePixelRatio document DOMException
  getComputedStyle history Image innerHeight innerWidth localStorage location matchMedia MutationObserver NodeFilter print
  removeEventListener requestAnimationFrame Response scrollTo scrollY setTimeout TextEncoder URL window XMLSerializer`;

// Text of the corpus is never markup; the page's policy blocks these, too.
const MARKUP = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'srcdoc'];

const readonly = (names) =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, 'readonly']),
  );

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-script-url': 'error',
      'no-restricted-properties': [
        'error',
        ...MARKUP.map((property) => ({ property, message: 'Use element() of elements.js.' })),
        { object: 'document', property: 'write', message: 'Use element() of elements.js.' },
        { object: 'document', property: 'writeln', message: 'Use element() of elements.js.' },
      ],
      'no-shadow': ['error', { builtinGlobals: true }],
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
    },
  },
  { files: ['src/topicfold/report/web/**/*.js'], languageOptions: { globals: readonly(PAGE) } },
  { files: ['tests/page/**/*.js'], languageOptions: { globals: readonly('d3 structuredClone URL') } },
];
