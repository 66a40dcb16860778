import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { chooseTheme, chosenTheme, type Theme } from '../theme.js'

const themes = ['system', 'light', 'dark'] as const satisfies readonly Theme[]

/** How this browser shows the dashboard. */
export function Appearance(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <section class="card" aria-labelledby="look-title">
      <h2 id="look-title">{words.look.title}</h2>
      <fieldset class="choices">
        <legend class="heard-only">{words.look.title}</legend>
        {themes.map((one) => (
          <label key={one} class="choices__choice">
            <input
              type="radio"
              name="theme"
              checked={theme === one}
              onChange={() => {
                setTheme(one)
                chooseTheme(one)
              }}
            />
            <span>{words.look.themes[one]}</span>
          </label>
        ))}
      </fieldset>
    </section>
  )
}
