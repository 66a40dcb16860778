import { useEffect, useId, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/fields.js'
import type { Bank } from '../answers.js'
import { matchingBanks } from './rules.js'

type BankChoiceProps = { banks: readonly Bank[]; chosen: string; onChoose: (bank: Bank) => void }

/** The ARIA combobox pattern: type a part of the bank's name, arrow keys move, Enter chooses. */
export function BankChoice({ banks, chosen, onChoose }: BankChoiceProps) {
  const id = useId()
  const [text, setText] = useState(chosen)
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  useEffect(() => setText(chosen), [chosen])
  const found = matchingBanks(banks, text === chosen ? '' : text)
  const choose = (bank: Bank | undefined): void => {
    if (bank === undefined) return
    setText(bank.name)
    setOpen(false)
    onChoose(bank)
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => (open ? setAt(Math.max(0, Math.min(at + 1, found.length - 1))) : setOpen(true)),
    ArrowUp: () => setAt(Math.max(at - 1, 0)),
    Enter: () => choose(found[at]),
    Escape: () => setOpen(false),
  }
  return (
    <div class="combo">
      <Field label={words.bank.bank}>
        <input
          class="input"
          role="combobox"
          autocomplete="off"
          placeholder={words.bank.search}
          aria-expanded={open}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={open && found[at] !== undefined ? `${id}-${at}` : undefined}
          value={text}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false)
            setText(chosen)
          }}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setOpen(true)
            setAt(0)
          }}
          onKeyDown={(event) => {
            const act = keys[event.key]
            if (act === undefined || (event.key === 'Enter' && !open)) return
            event.preventDefault()
            act()
          }}
        />
      </Field>
      <div class="combo__list" id={`${id}-list`} role="listbox" aria-label={words.bank.bank} hidden={!open}>
        {found.map((bank, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={bank.code}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            class="combo__option"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(bank)}
          >
            {bank.name}
          </div>
        ))}
        {found.length === 0 && (
          <div class="combo__option" role="option" aria-selected={false} aria-disabled="true" tabIndex={-1}>
            {words.bank.none}
          </div>
        )}
      </div>
    </div>
  )
}
