import test from 'ava'
import { ConfigError, loadConfig, loadMail } from '../../src/platform/config.js'

const enough = {
  DATABASE_URL: 'postgres://x',
  REDIS_URL: 'redis://x',
  SOLANA_RPC_URLS: 'http://x',
  PRICE_URL: 'http://x',
  TREASURY_WALLET: 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy',
  OTP_PEPPER: Buffer.alloc(32, 7).toString('base64'),
}

test('the pepper of one-time codes is 32 bytes in base64, and there is none by default', (t) => {
  t.deepEqual(loadConfig(enough).otpPepper, Buffer.alloc(32, 7))
  for (const pepper of [
    '',
    'short',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
  ])
    t.throws(() => loadConfig({ ...enough, OTP_PEPPER: pepper }), {
      instanceOf: ConfigError,
      message: /OTP_PEPPER/,
    })
})

test('the mailer’s settings are a server and a sender, and nobody else needs them', (t) => {
  const url = 'smtps://user:pass@mail.example:465'
  for (const from of ['a@tips.example', 'Tips <a@tips.example>', 'Tips & Co. <a@tips.example>'])
    t.deepEqual(loadMail({ SMTP_URL: url, MAIL_FROM: from }), { url, from })
  t.deepEqual(
    Object.keys(loadConfig(enough)).filter((name) => /mail|smtp/i.test(name)),
    [],
  )
})

test('a bad mail setting is named', (t) => {
  const good = { SMTP_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: 'a@tips.example' }
  const bad = {
    SMTP_URL: ['', 'http://x', 'mail.example:25', 'smtp://'],
    MAIL_FROM: ['', 'tips', 'Tips <tips>'],
  }
  for (const [name, values] of Object.entries(bad))
    for (const value of [...values, 'a@b.example\r\nBcc: c@d.example'])
      t.throws(
        () => loadMail({ ...good, [name]: value }),
        { instanceOf: ConfigError, message: new RegExp(name) },
        value,
      )
})
