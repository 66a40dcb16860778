import type { InitializeHook, LoadHook } from 'node:module'
import type { Plant } from './plants.js'

let plant: Plant | undefined

/** Called by Node in the thread that loads modules. */
export const initialize: InitializeHook<Plant> = (given) => {
  plant = given
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (plant === undefined || !url.endsWith(`/dist/${plant.file}`)) return loaded
  const source = String(loaded.source)
  if (!source.includes(plant.from))
    throw new Error(`${plant.file} does not have the text that is to be replaced`)
  return { ...loaded, source: source.replace(plant.from, plant.to) }
}
