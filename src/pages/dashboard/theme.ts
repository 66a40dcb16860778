export type Theme = 'system' | 'light' | 'dark'

const key = 'theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  apply()
}

/** Applies the chosen theme, or the system's, and follows the system's changes. */
export function followTheme(): void {
  apply()
  dark.addEventListener('change', apply)
}

function apply(): void {
  const theme = chosenTheme()
  document.documentElement.dataset['theme'] = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
}
