import type { OverlayLook } from './look.js'

/** The tones of each sound: a frequency, and when it starts in seconds. Synthesized, so no file is loaded. */
const tones: Readonly<Record<OverlayLook['sound'], readonly (readonly [hertz: number, at: number])[]>> = {
  none: [],
  chime: [
    [880, 0],
    [1318.5, 0.12],
  ],
  bell: [
    [659.25, 0],
    [1318.5, 0],
    [1975.5, 0.02],
  ],
  coins: [
    [1568, 0],
    [2093, 0.07],
    [1568, 0.16],
    [2093, 0.23],
  ],
  fanfare: [
    [523.25, 0],
    [659.25, 0.13],
    [784, 0.26],
    [1046.5, 0.39],
  ],
}

/** Silent in browsers that block sound before a click. */
export function playSound(sound: OverlayLook['sound'], volume: number): void {
  if (tones[sound].length === 0) return
  const context = new AudioContext()
  for (const [hertz, at] of tones[sound])
    playTone(context, { hertz, start: context.currentTime + at, volume })
  setTimeout(() => void context.close(), 2000)
}

interface Tone {
  readonly hertz: number
  readonly start: number
  readonly volume: number
}

function playTone(context: AudioContext, { hertz, start, volume }: Tone): void {
  const oscillator = context.createOscillator()
  const gain = context.createGain()
  oscillator.frequency.value = hertz
  gain.gain.setValueAtTime(0, start)
  gain.gain.linearRampToValueAtTime(volume * 0.5, start + 0.02)
  gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.5)
  oscillator.connect(gain).connect(context.destination)
  oscillator.start(start)
  oscillator.stop(start + 0.5)
}

/** Reads a text out, where the browser can. Texts wait for one another. */
export function speak(text: string, volume: number): void {
  if (!('speechSynthesis' in window)) return
  const speech = new SpeechSynthesisUtterance(text)
  speech.volume = volume
  speechSynthesis.speak(speech)
}
