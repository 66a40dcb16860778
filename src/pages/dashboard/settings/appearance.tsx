import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { chooseTheme, chosenTheme, type Theme } from '../theme.js'

const themes = ['system', 'light', 'dark'] as const satisfies readonly Theme[]

/** The dashboard's theme in this browser. */
export function Appearance(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <section class="card" aria-labelledby="look-title">
      <h2 id="look-title">{words.look.title}</h2>
      <RadioGroup
        name="theme"
        legend={words.look.title}
        choices={themes}
        texts={words.look.themes}
        chosen={theme}
        onChoose={(one) => {
          setTheme(one)
          chooseTheme(one)
        }}
      />
    </section>
  )
}
