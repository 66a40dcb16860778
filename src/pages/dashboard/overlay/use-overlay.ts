import { useEffect, useRef, useState } from 'preact/hooks'
import type { Overlay, OverlayAnswer, OverlaySettings } from '../answers.js'
import { call, codeOf } from '../api.js'

export const overlayPath = '/creators/overlay'

/** Changes are saved this long after the last one. */
const saveDelayMs = 300

/**
 * The overlay as it is edited. A change shows at once and is saved a moment later, one request after the other; open overlays show what
 * is saved. What could not be saved is sent again with the next change.
 */
export function useOverlay(first: Overlay) {
  const [overlay, setOverlay] = useState(first)
  const [fault, setFault] = useState<string>()
  const unsaved = useRef<Partial<OverlaySettings>>({})
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const running = useRef(Promise.resolve())

  async function save(): Promise<void> {
    const body = unsaved.current
    if (Object.keys(body).length === 0) return
    unsaved.current = {}
    try {
      await call<OverlayAnswer>('PATCH', overlayPath, { body })
      setFault(undefined)
    } catch (error) {
      unsaved.current = { ...body, ...unsaved.current }
      setFault(codeOf(error))
    }
  }
  function saveNext(): Promise<void> {
    clearTimeout(timer.current)
    running.current = running.current.then(save)
    return running.current
  }
  useEffect(() => () => void saveNext(), [])
  return {
    ...overlay,
    fault,
    change(part: Partial<OverlaySettings>): void {
      setOverlay((before) => ({ ...before, settings: { ...before.settings, ...part } }))
      unsaved.current = { ...unsaved.current, ...part }
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void saveNext(), saveDelayMs)
    },
    async renew(): Promise<void> {
      const answer = await call<OverlayAnswer>('POST', `${overlayPath}/token`, { body: {} })
      setOverlay((before) => ({ ...before, url: answer.overlay.url }))
    },
    async test(amountUsd: number): Promise<void> {
      await saveNext()
      await call('POST', `${overlayPath}/test`, { body: { amountUsd } })
    },
  }
}

export type EditedOverlay = ReturnType<typeof useOverlay>
