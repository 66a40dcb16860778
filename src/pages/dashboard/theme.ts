export type Theme = 'system' | 'light' | 'dark'

const key = 'theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

/** What somebody chose in this browser. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(key)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  apply()
}

/** Shows the page in the theme that was chosen, else in the system's, whenever that changes. */
export function followTheme(): void {
  apply()
  dark.addEventListener('change', apply)
}

function apply(): void {
  const theme = chosenTheme()
  document.documentElement.dataset['theme'] = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
}
