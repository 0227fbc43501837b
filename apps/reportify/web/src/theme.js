// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, until the button is pressed.
export const isDark = () => document.documentElement.dataset.theme === 'dark';

export function startTheme(button) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const set = (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    document.dispatchEvent(new Event('theme'));
  };
  set(system.matches);
  system.addEventListener('change', () => set(system.matches));
  button.addEventListener('click', () => set(!isDark()));
}

// A colour of the style sheet.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
