import { useState } from 'preact/hooks'

interface Typing {
  readonly currentTarget: HTMLInputElement
}

/**
 * Keeps what is being typed until the field loses focus or Enter is pressed: each render sets a field's value again, so one for
 * another reason would take back the letters.
 */
export function useTyped(value: string, onTyped: (text: string, input: HTMLInputElement) => void) {
  const [typed, setTyped] = useState<string>()
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }: Typing) => setTyped(currentTarget.value),
    onBlur: () => setTyped(undefined),
    onChange({ currentTarget }: Typing) {
      setTyped(undefined)
      onTyped(currentTarget.value, currentTarget)
    },
  }
}
