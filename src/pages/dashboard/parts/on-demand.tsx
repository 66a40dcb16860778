import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Unread } from './notices.js'

type Content = () => JSX.Element

/** A screen that few visits need, so the first load is without it. */
export function onDemand(load: () => Promise<Content>): Content {
  let loaded: Content | undefined
  return function OnDemand() {
    const [fault, setFault] = useState<string>()
    const [, show] = useState(loaded !== undefined)
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (content) => {
          loaded = content
          show(true)
        },
        () => setFault('network'),
      )
    }, [])
    const Shown = loaded
    // Browsers may remember that an import failed, so only a new page load repeats it.
    return Shown === undefined ? <Unread of={{ fault, reload: () => location.reload() }} /> : <Shown />
  }
}
