import { randomBytes } from 'node:crypto'
import test from 'ava'
import { type Person, registerPerson } from '../helpers/make/creators.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const linkHandle = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'link-handle', ...args)

function freshHandle(): string {
  return `h${randomBytes(6).toString('hex')}`
}
async function handlesOf({ user }: Person): Promise<(string | null)[]> {
  const row = await world().db('users').where({ id: user.id }).first()
  return [row.twitter_handle, row.discord_handle]
}
function auditOf({ user }: Person) {
  return world()
    .db('audit_log')
    .where({ subject: `user:${user.id}` })
    .orderBy('id')
}

test('without --apply link-handle prints the plan and changes nothing', async (t) => {
  const ada = await registerPerson(world())
  const { code, out } = await linkHandle('--user', ada.email, '--twitter', '@Ada')
  t.is(code, 0)
  t.is(
    out,
    `twitter handle of ${ada.email} (${ada.user.id}): none -> Ada: not done yet; add --apply to do it\n`,
  )
  t.deepEqual(await handlesOf(ada), [null, null])
  t.deepEqual(await auditOf(ada), [])
})

test('--apply links a handle, which is in the profile and in the audit log', async (t) => {
  const ada = await registerPerson(world())
  const [twitter, discord] = [freshHandle(), freshHandle()]
  t.is(
    (await linkHandle('--user', ada.user.id, '--twitter', `@${twitter}`, '--apply', '--as', 'Grace')).code,
    0,
  )
  const json = await linkHandle(
    '--user',
    ` ${ada.email.toUpperCase()}`,
    '--discord',
    discord,
    '--apply',
    '--json',
  )
  t.deepEqual(JSON.parse(json.out), {
    ok: true,
    applied: true,
    userId: ada.user.id,
    email: ada.email,
    network: 'discord',
    before: null,
    after: discord,
  })
  const profile = await world().request<{ creator: Record<string, unknown> }>('GET', '/creators/me', {
    session: ada.session,
  })
  t.like(profile.body.creator, { twitterHandle: twitter, discordHandle: discord })
  const [first, second] = await auditOf(ada)
  t.like(first, {
    actor: 'Grace',
    action: 'link-handle',
    details: { network: 'twitter', before: null, after: twitter },
  })
  t.truthy(second.actor)
})

test('a handle of another account is refused in any case of letters until it is unlinked', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world()), registerPerson(world())])
  const handle = freshHandle()
  await linkHandle('--user', ada.email, '--twitter', handle, '--apply')
  for (const apply of [[], ['--apply']]) {
    const { code, err } = await linkHandle('--user', eve.email, '--twitter', handle.toUpperCase(), ...apply)
    t.is(code, 1)
    t.is(
      err,
      `twitter handle ${handle.toUpperCase()} belongs to user ${ada.user.id}; unlink it there first\n`,
    )
  }
  t.is((await linkHandle('--user', ada.email, '--unlink', 'twitter', '--apply')).code, 0)
  t.is((await linkHandle('--user', eve.email, '--twitter', handle, '--apply')).code, 0)
  t.deepEqual(await handlesOf(ada), [null, null])
  t.deepEqual(await handlesOf(eve), [handle, null])
  t.is((await auditOf(ada)).length, 2)
})

const wrongArguments: readonly string[][] = [
  [],
  ['--user', 'a@example.com'],
  ['--twitter', 'ada'],
  ['--user', 'ada', '--twitter', 'ada'],
  ['--user', 'a@example.com', '--twitter', 'ada', '--discord', 'ada'],
  ['--user', 'a@example.com', '--twitter', 'ada', '--unlink', 'twitter'],
  ['--user', 'a@example.com', '--unlink', 'facebook'],
  ['--user', 'a@example.com', '--twitter', 'x'.repeat(16)],
  ['--user', 'a@example.com', '--twitter', 'a b'],
  ['--user', 'a@example.com', '--twitter', '@@ada'],
  ['--user', 'a@example.com', '--discord', 'ada.sol'],
  ['--user', 'a@example.com', '--discord', '11111111111111111111111111111111'],
  ['--user', 'a@example.com', '--handle', 'ada'],
  ['ada'],
]
test('wrong arguments end with exit code 2', async (t) => {
  for (const args of wrongArguments) {
    const { code, out, err } = await linkHandle(...args)
    t.is(code, 2, args.join(' '))
    t.is(out, '')
    t.not(err, '')
  }
})
