import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Composed, compose } from '../../src/compose.js'
import { decideTip } from '../../src/overlay/decide.js'
import { changeSettings } from '../../src/overlay/overlay.js'
import type { Decision, OverlaySettings } from '../../src/overlay/schemas.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { query } from '../../src/platform/database/database.js'
import { createSemaphore } from '../../src/platform/semaphore.js'
import { respondsAt } from '../dev/probe.js'
import { waitUntil } from '../dev/wait-until.js'
import { withClosing } from '../kit/closing.js'
import { Draw } from '../kit/draw.js'
import { OverlayPage } from '../kit/overlay-page.js'
import type { Report } from '../kit/report.js'
import { type ReverseProxy, startReverseProxy } from '../kit/reverse-proxy.js'
import type { ServerUrls } from '../kit/servers.js'
import type { ServiceProcess } from '../kit/service-process.js'
import { serviceSettings } from '../kit/service-settings.js'
import { startWeb } from './events.js'
import { confirmInventedTips, inventedWallet } from './invented-tips.js'
import { type GivenTip, judgeOverlays } from './judge-overlays.js'
import { createOwners } from './webhooks.js'

interface Plan {
  /** Half of them with each kind of approval. */
  readonly seconds: number
  /** Tips a second. */
  readonly rate: number
  readonly overlays: number
  /** Seconds between disturbances: a web process is killed or restarted, and a page is loaded again. */
  readonly kill: number
  readonly seed: number
  readonly report: (text: string) => void
}

type Approval = OverlaySettings['approval']

interface Stage {
  readonly services: Composed
  readonly userId: string
  readonly wallet: string
  readonly webs: readonly ServiceProcess[]
  readonly proxy: ReverseProxy
  readonly pages: readonly OverlayPage[]
  readonly tips: GivenTip[]
  readonly draw: Draw
  /** A machine that is too slow gives fewer tips a second. */
  readonly limit: ReturnType<typeof createSemaphore>
  /** What did not go as planned. The first one ends the run. */
  readonly faults: string[]
  readonly counts: { kills: number; restarts: number; loads: number }
}

const webCount = 2
const filter = ['scam', 'buy followers']
const texts = {
  none: [null],
  clean: ['Well played', 'Greetings from Lagos', 'scampi for everybody'],
  filtered: ['What a SCAM', 'this is a sc4m', 'Buy  followers at my place'],
} as const
const mostInBatch = 3
/** Transactions of tips and decisions: fewer than a pool has connections. */
const atOnce = 6
const mostPauseMs = 1500
/** A page that found no process ready waits for up to 45 s. */
const restMs = 90_000
const reportMs = 15_000

/** Gives tips to a creator with several overlays while web processes are killed and pages are loaded again. */
export function runOverlays(urls: ServerUrls, plan: Plan): Promise<Report> {
  return withClosing(async (defer) => {
    const env = { ...serviceSettings(urls), MODE: 'test' }
    const services = compose(loadConfig(env), 'faults')
    defer(() => services.close())
    const logs = mkdtempSync(join(tmpdir(), 'tipping-overlays-'))
    const wallet = inventedWallet()
    const [userId = ''] = await createOwners(services, 1)
    await services.db('parties').insert({ user_id: userId, wallet })
    const look = { durationMs: 1000, gapMs: 0, queue: 500, filter }
    const { token } = await changeSettings(services, userId, look)

    const webs = await Promise.all(
      Array.from({ length: webCount }, async (_, nth) => {
        return startWeb(env, join(logs, `web-${nth}.log`), defer)
      }),
    )
    const webUrls = webs.map(({ url }) => url)
    const front = { passesAlways: false, onAnswer: () => undefined }
    const proxy = await startReverseProxy(webUrls, front, defer)
    // The address of a page.
    Object.assign(globalThis, { location: { origin: proxy.url } })
    defer(() => Reflect.deleteProperty(globalThis, 'location'))
    await waitUntil(() => proxy.readyCount() === webCount, restMs)
    const pages = Array.from({ length: plan.overlays }, () => new OverlayPage(token))
    const all = [...pages]
    defer(() => {
      for (const page of all) page.close()
    })
    await waitUntil(() => pages.every(({ connections }) => connections > 0), restMs)

    const counts = { kills: 0, restarts: 0, loads: 0 }
    const limit = createSemaphore({ concurrency: atOnce, maxWaiting: Number.POSITIVE_INFINITY })
    const given = { tips: [], draw: new Draw(plan.seed), limit, faults: [], counts }
    const stage: Stage = { services, userId, wallet, webs, proxy, pages, ...given }
    const progress = () =>
      plan.report(`${stage.tips.length} tips, ${counts.kills + counts.restarts} processes ended`)
    const beat = setInterval(progress, reportMs)
    defer(() => clearInterval(beat))
    const ending = new AbortController()
    const disturbing = disturb(stage, plan, ending.signal).catch(
      (error) => void stage.faults.push(String(error)),
    )
    const endDisturbing = () => {
      ending.abort()
      return disturbing
    }
    defer(endDisturbing)
    for (const approval of ['filtered', 'all'] as const) {
      await changeSettings(services, userId, { approval })
      await giveTips(stage, plan, approval)
      await untilAllShown(stage)
    }
    await endDisturbing()
    const late = new OverlayPage(token, '0')
    all.push(late)
    await waitUntil(() => late.told.at(-1)?.eventId === stage.tips.at(-1)?.id, restMs)
    return judgeOverlays({ ...stage, late })
  })
}

/** The next batches of tips, each confirmed at once, at the rate. Returns when the creator has decided about all. */
async function giveTips(stage: Stage, { seconds, rate }: Plan, approval: Approval): Promise<void> {
  const { tips, draw, faults } = stage
  const first = tips.length
  const count = Math.ceil((seconds * rate) / 2)
  const started = performance.now()
  const given: Promise<void>[] = []
  while (tips.length < first + count && faults.length === 0) {
    const size = draw.whole(1, mostInBatch)
    const batch = Array.from({ length: size }, (_, at) => drawTip(draw, approval, tips.length + at + 1))
    tips.push(...batch)
    given.push(give(stage, batch).catch((error) => void faults.push(String(error))))
    const aheadMs = ((tips.length - first) * 1000) / rate - (performance.now() - started)
    if (aheadMs > 0) await sleep(aheadMs)
  }
  await Promise.all(given)
}

function drawTip(draw: Draw, approval: Approval, nth: number): GivenTip {
  const words = draw.kind({ none: 35, clean: 40, filtered: 25 })
  const waits = words === 'filtered' || (words === 'clean' && approval === 'all')
  const first = draw.kind<Decision | 'leave'>(
    waits ? { approve: 60, hold: 10, hide: 15, leave: 15 } : { approve: 0, hold: 3, hide: 3, leave: 94 },
  )
  const then = first === 'approve' && draw.happens(0.1) ? draw.oneOf(['hold', 'hide'] as const) : 'leave'
  const chosen: readonly (Decision | 'leave')[] = [first, then]
  const decisions = chosen.flatMap((decision) =>
    decision === 'leave' ? [] : [{ decision, afterMs: draw.whole(0, mostPauseMs) }],
  )
  return { nth, message: draw.oneOf<string | null>(texts[words]), waits, decisions, id: '' }
}

async function give({ services, wallet, userId, limit }: Stage, batch: readonly GivenTip[]): Promise<void> {
  const messages = batch.map(({ message }) => message)
  await limit(async () => {
    const ids = await confirmInventedTips(services, wallet, messages)
    for (const [at, tip] of batch.entries()) tip.id = ids[at] ?? ''
    const visible = batch.filter(({ waits }) => !waits)
    await noteVisible(services, visible)
  })
  await Promise.all(
    batch.map(async (tip) => {
      for (const { decision, afterMs } of tip.decisions) {
        await sleep(afterMs)
        await limit(async () => {
          await decideTip(services, userId, { signature: tip.id, decision })
          if (decision === 'approve') await noteVisible(services, [tip])
          else tip.takenAwayAt = Date.now()
        })
      }
    }),
  )
}

/** Notes the place of tips that overlays may show from now on. */
async function noteVisible({ db }: Composed, tips: readonly GivenTip[]): Promise<void> {
  const visibleAt = Date.now()
  const rows = await query<{ id: string; stamp: number }>(db, {
    name: 'faults.stamps',
    text: `select t.id, (extract(epoch from coalesce(d.decided_at, t.confirmed_at)) * 1000)::float8 as stamp
      from tips t left join tip_decisions d on d.tip_id = t.id where t.id = any($1)`,
    values: [tips.map(({ id }) => id)],
  })
  const stamps = new Map(rows.map(({ id, stamp }) => [id, stamp]))
  for (const tip of tips) Object.assign(tip, { visibleAt, stamp: stamps.get(tip.id) })
}

/** Gives one more tip, and waits until every page has shown it. Alerts come in order, so all others have come by then. */
async function untilAllShown(stage: Stage): Promise<void> {
  const { tips, pages, faults } = stage
  const last: GivenTip = { nth: tips.length + 1, message: null, waits: false, decisions: [], id: '' }
  tips.push(last)
  await give(stage, [last])
  const isDone = () => pages.every(({ shown }) => shown.at(-1) === last.id)
  const mayGoOn = () => faults.length === 0
  if (!(await waitUntil(isDone, restMs, mayGoOn)) && mayGoOn())
    faults.push('some overlay did not come to the end of the alerts')
}

/** Ends one web process after the other, each when all are up. */
async function disturb(stage: Stage, { kill, seed }: Plan, ending: AbortSignal): Promise<void> {
  const { webs, proxy, pages, counts } = stage
  const draw = new Draw(seed + 1)
  const mayGoOn = () => !ending.aborted
  for (let turn = 0; ; turn++) {
    await sleep(kill * 1000, undefined, { signal: ending }).catch(() => undefined)
    const ready = await Promise.all(webs.map(({ url }) => respondsAt(`${url}/ready`, restMs, mayGoOn)))
    const known = await waitUntil(() => proxy.readyCount() === webs.length, restMs, mayGoOn)
    if (ending.aborted) return
    if (!known || ready.includes(false)) throw new Error('a web process did not come back')
    draw.oneOf(pages).load()
    counts.loads += 1
    const web = webs[turn % webs.length]
    if (draw.happens(0.7)) {
      web?.kill()
      counts.kills += 1
    } else {
      await web?.stop()
      await web?.start()
      counts.restarts += 1
    }
  }
}
