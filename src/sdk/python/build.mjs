// Makes the folder that pip installs and builds: the Python client with its pyproject.toml.
// `node src/sdk/python/build.mjs [folder]`; without a folder dist/python.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../../..')
const out = resolve(process.argv[2] ?? join(root, 'dist/python'))
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
copyFileSync(join(here, 'tipping.py'), join(out, 'tipping.py'))
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
writeFileSync(
  join(out, 'pyproject.toml'),
  `[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "tipping-client"
version = "${version}"
description = "Client of the tipping service for a creator's backend"
license = { text = "${license}" }
requires-python = ">=3.9"

[tool.setuptools]
py-modules = ["tipping"]
`,
)
