import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { common } from '../../i18n/common.js'
import { copyText } from '../../lib/copy.js'
import { Icon } from '../icon.js'

const shownMs = 2000

/** Copies `value` and confirms it for two seconds. `label` names the value for screen readers; `named` also shows it. */
export function CopyButton({
  value,
  label,
  named = false,
}: {
  readonly value: string
  readonly label: string
  readonly named?: boolean
}): JSX.Element {
  const [copied, setCopied] = useState<boolean>()
  useEffect(() => {
    if (copied === undefined) return
    const timer = setTimeout(() => setCopied(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [copied])
  const word =
    copied === undefined
      ? named
        ? common.copyWhat(label)
        : common.copy
      : copied
        ? common.copied
        : common.copyFailed
  return (
    <button
      type="button"
      class="copy"
      aria-label={copied === undefined ? common.copyWhat(label) : word}
      onClick={() => void copyText(value).then(setCopied)}
    >
      <Icon name={copied === true ? 'tick' : 'copy'} size={16} />
      <span aria-hidden="true">{word}</span>
    </button>
  )
}
