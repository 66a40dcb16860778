import { optionalSecrets, type Secret, secretsOf } from '../../src/platform/config/secrets.js'
import { scrapeTargets, workerPort } from './processes.js'

/** One line of the Procfile. */
interface ProcfileLine {
  readonly name: string
  readonly command: string
}

/** A process of the Procfile that keeps running: its kind in the list of secrets is its name. */
type ServiceName = Exclude<keyof typeof secretsOf, `ops ${string}`>

/** A process ends within 20 s and DRAIN_SECONDS; then systemd kills it. */
const stopSeconds = 60

/**
 * The files of scripts/deploy that follow from the Procfile, the list of secrets and .env.example, by their paths. A test compares
 * them; write-files.ts writes them.
 */
export function deployFiles(procfile: string, envExample: string): Readonly<Record<string, string>> {
  const lines = procfile
    .trim()
    .split('\n')
    .map((line): ProcfileLine => {
      const [, name = '', command = ''] = /^([\w-]+): (.*)$/.exec(line) ?? []
      return { name, command: command.replace(/^npm start$/, 'node dist/src/web.js') }
    })
  const services = lines.filter(({ name }) => name !== 'release')
  const units = services.map((line, index) => [unitFile(line), unitText(line, index)] as const)
  return {
    ...Object.fromEntries(units),
    'scripts/deploy/systemd/tipping.target': targetText(services),
    'scripts/deploy/secrets.txt': secretsText(services),
    'scripts/deploy/app.json': appText(services, envExample),
    'scripts/deploy/monitoring/prometheus.yml': prometheusText(services),
  }
}

const isService = (name: string): name is ServiceName => name in secretsOf

function secretsFor(name: string): readonly Secret[] {
  if (!isService(name)) throw new Error(`${name} of the Procfile has no line in secretsOf`)
  return secretsOf[name]
}

const unitName = (name: string): string => (name === 'web' ? 'tipping-web@' : `tipping-${name}`)
const unitFile = ({ name }: ProcfileLine): string => `scripts/deploy/systemd/${unitName(name)}.service`

function unitText({ name, command }: ProcfileLine, index: number): string {
  const ports =
    name === 'web'
      ? [
          '# The instance is the port, and the metrics are on the same with a 1 before it: 3000 and 13000.',
          'Environment=PORT=%i METRICS_PORT=1%i',
        ]
      : [`Environment=WORKER_PORT=${workerPort(index)}`]
  return `# Made by scripts/deploy/write-files.ts; a test compares it.
[Unit]
Description=Tipping: ${name === 'web' ? 'web on port %i' : name}
After=network-online.target postgresql.service redis-server.service
Wants=network-online.target
PartOf=tipping.target

[Service]
User=tipping
Group=tipping
WorkingDirectory=/opt/tipping/current
Environment=NODE_ENV=production
# systemd reads them as root: the user of the service cannot.
EnvironmentFile=/etc/tipping/common.env
EnvironmentFile=/etc/tipping/${name}.env
${ports.join('\n')}
ExecStart=/usr/bin/${command}
Restart=always
RestartSec=2
TimeoutStopSec=${stopSeconds}
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native

[Install]
WantedBy=tipping.target
`
}

function targetText(services: readonly ProcfileLine[]): string {
  const wanted = services.map(({ name }) =>
    name === 'web' ? 'tipping-web@3000.service' : `tipping-${name}.service`,
  )
  return `# Made by scripts/deploy/write-files.ts; a test compares it. Starts and stops every process.
[Unit]
Description=Tipping
Wants=${wanted.join(' ')}

[Install]
WantedBy=multi-user.target
`
}

function prometheusText(services: readonly ProcfileLine[]): string {
  const targets = scrapeTargets(services.map(({ name }) => name)).map(
    ([name, port]) => `      - { targets: ["localhost:${port}"], labels: { process: ${name} } }`,
  )
  return `# Made by scripts/deploy/write-files.ts; a test compares it. The units of scripts/deploy/systemd listen on these ports. Each further
# web process is a target: tipping-web@3001 listens on 13001.
global:
  scrape_interval: 15s
  evaluation_interval: 15s
  # Where your people read docs/operations.md: alerts link its headings.
  external_labels: { runbook: "https://git.example/tipping/docs/operations.md" }
rule_files: [rules.yml]
alerting:
  alertmanagers:
    - static_configs: [{ targets: ["localhost:9093"] }]
scrape_configs:
  - job_name: tipping
    static_configs:
${targets.join('\n')}
`
}

function secretsText(services: readonly ProcfileLine[]): string {
  const all = services.map(({ name }) => `${name}: ${secretsFor(name).join(' ')}`)
  return `# Made by scripts/deploy/write-files.ts; a test compares it. Which process reads which secret setting. Every other setting is
# for all. Where PAYOUT_SECRET_KEY is unset, its process reads FIATPAY_SECRET_KEY; where DATA_KEY or REPORT_SIGNING_KEY is, OTP_PEPPER.
# These may be left out: ${optionalSecrets.join(' ')}
release: ${secretsOf['ops migrate'].join(' ')}
${all.join('\n')}
`
}

/** Settings that a platform for dynos asks for at the first deploy, besides those that it sets itself. */
const asked = [
  ...[
    'PUBLIC_URL',
    'SOLANA_RPC_URLS',
    'SOLANA_GENESIS_HASH',
    'PUBLIC_RPC_URL',
    'TREASURY_WALLET',
    'PRICE_URL',
  ],
  ...[
    'FIATPAY_URL',
    'FIATPAY_SECRET_KEY',
    'RATE_URL',
    'DATA_KEY',
    'OTP_PEPPER',
    'WALLET_KEK',
    'SMTP_URL',
    'MAIL_FROM',
  ],
]
/** The router of a platform for dynos is one proxy; its Redis has a certificate of its own. */
const given = { NODE_ENV: 'production', TRUST_PROXY: 'true', REDIS_TLS_INSECURE: 'true', DB_POOL: '4' }

function appText(services: readonly ProcfileLine[], envExample: string): string {
  const meaning = (name: string): string => {
    const line = new RegExp(`^# ${name}=.*?# (.*)$`, 'm').exec(envExample)?.[1]
    if (line === undefined) throw new Error(`.env.example has no ${name}`)
    return line.replace(/; `npm run dev`.*$/, '').replaceAll('`', '')
  }
  const env = {
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, { value, required: true }])),
    ...Object.fromEntries(asked.map((name) => [name, { description: meaning(name), required: true }])),
  }
  const app = {
    name: 'Tipping',
    description:
      'Tips for creators in crypto and naira. Copy this file to the top folder. Procfile names the processes.',
    buildpacks: [{ url: 'heroku/nodejs' }],
    addons: ['heroku-postgresql', 'heroku-redis'],
    env,
    formation: Object.fromEntries(services.map(({ name }) => [name, { quantity: 1 }])),
  }
  return `${JSON.stringify(app, undefined, 2)}\n`
}
