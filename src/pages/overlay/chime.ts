/** Two rising tones in half a second, synthesized, so no file is loaded. Silent in browsers that block sound before a click. */
export function playChime(volume: number): void {
  const context = new AudioContext()
  const start = context.currentTime
  tone(context, 880, start, volume)
  tone(context, 1318.5, start + 0.12, volume)
  setTimeout(() => void context.close(), 1500)
}

function tone(context: AudioContext, frequency: number, start: number, volume: number): void {
  const oscillator = context.createOscillator()
  const gain = context.createGain()
  oscillator.frequency.value = frequency
  gain.gain.setValueAtTime(0, start)
  gain.gain.linearRampToValueAtTime(volume * 0.5, start + 0.02)
  gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.5)
  oscillator.connect(gain).connect(context.destination)
  oscillator.start(start)
  oscillator.stop(start + 0.5)
}
