import { useState } from 'preact/hooks'

/**
 * Keeps what is being typed until the field loses focus: each render sets a field's value again, so one for another reason
 * would take back the letters.
 */
export function useTyped(value: string) {
  const [typed, setTyped] = useState<string>()
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      setTyped(currentTarget.value),
    onBlur: () => setTyped(undefined),
  }
}
