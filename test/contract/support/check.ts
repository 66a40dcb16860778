import test, { type ExecutionContext } from 'ava'
import { type Answer, at, standIns } from './server.js'
import type { Shape } from './shapes.js'

const patience = 90_000

type Check = (t: ExecutionContext) => Promise<void> | void

/** A sentence of the contract that any server can show. */
export function check(title: string, run: Check): void {
  test(title, async (t) => {
    t.timeout(patience)
    await run(t)
  })
}

/** A sentence that shows only where payments, mails and wallets can be moved from outside; skipped elsewhere. */
export function checkWithStandIns(title: string, run: Check): void {
  const declare = standIns === '' ? test.skip : test
  declare(title, async (t) => {
    t.timeout(patience)
    await run(t)
  })
}

/** Makes something once, when a first check asks for it. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** One check a field: `path` is dotted. */
export function checkFields(
  declare: typeof check,
  what: string,
  read: () => Promise<unknown>,
  fields: Readonly<Record<string, Shape>>,
): void {
  for (const [path, shape] of Object.entries(fields))
    declare(`${what}: ${path}`, async (t) => {
      const value = at(await read(), ...path.split('.'))
      t.true(shape(value), `${path} is ${JSON.stringify(value)}`)
    })
}

/** The exact status and error text of the contract. */
export function assertError(t: ExecutionContext, answer: Answer, status: number, error: string): void {
  t.is(answer.status, status, answer.text)
  t.is(answer.body['error'], error)
  t.is(answer.body['success'], false)
}
