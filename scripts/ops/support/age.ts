/** How long ago, in one number: minutes, hours from one on, days from two on. */
export function ageText(seconds: number): string {
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}
