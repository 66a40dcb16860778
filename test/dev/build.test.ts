import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const module = new URL('../../scripts/bootstrap/build.mjs', import.meta.url).href

test('the build removes the output of a deleted source, and compiles a file again that was deleted from dist', (t) => {
  const folder = temporaryFolder(t)
  const options = {
    module: 'NodeNext',
    target: 'ES2023',
    rootDir: '.',
    outDir: 'dist',
    sourceMap: true,
    types: [],
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['test'] }),
  )
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'test'))
  for (const name of ['kept', 'dropped'])
    writeFileSync(join(folder, `test/${name}.ts`), 'export const one = 1\n')
  const compiled = (name: string): boolean => existsSync(join(folder, `dist/test/${name}`))
  function build(): void {
    const program = `import { build } from ${JSON.stringify(module)}; await build()`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
    })
    t.is(status, 0, String(stderr))
  }

  build()
  t.true(compiled('kept.js') && compiled('dropped.js'))
  rmSync(join(folder, 'test/dropped.ts'))
  rmSync(join(folder, 'dist/test/kept.js'))
  build()
  t.true(compiled('kept.js'))
  t.false(compiled('dropped.js') || compiled('dropped.js.map'))
})
