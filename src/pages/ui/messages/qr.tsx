import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A QR code, dark on light in both themes with a quiet zone of four modules, because cameras need both. Loaded on demand. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let wanted = true
    void import('lean-qr').then(({ generate }) => {
      if (wanted && canvas.current !== null)
        generate(text).toCanvas(canvas.current, { on: [0, 0, 0], off: [255, 255, 255], pad: 4 })
    })
    return () => {
      wanted = false
    }
  }, [text])
  return (
    <figure class="qr">
      <canvas ref={canvas} role="img" aria-label={label} />
      <figcaption>{label}</figcaption>
    </figure>
  )
}
