import test from 'ava'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'

test('no gauge ends in _total, which Prometheus keeps for counters', async (t) => {
  const metrics = await createMetrics().registry.getMetricsAsJSON()
  const wrong = metrics.filter(({ name, type }) => name.endsWith('_total') !== (String(type) === 'counter'))
  t.deepEqual(
    wrong.map(({ name, type }) => `${type} ${name}`),
    [],
  )
  t.true(metrics.some(({ name }) => name === 'tipping_nodejs_active_resources'))
})
