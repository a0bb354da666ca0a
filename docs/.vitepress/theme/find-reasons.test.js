import assert from 'node:assert/strict'
import test from 'node:test'

import { findReasons } from './find-reasons.js'

const entries = [
  { kind: 'Keystone', condition: 'SecretsReady', status: 'True', reason: 'SecretsAvailable', meaning: 'Nothing to do.' },
  { kind: 'Keystone', condition: 'DatabaseReady', status: 'False', reason: 'DBSyncFailed', meaning: 'Correct what it quotes.' },
  { kind: 'ControlPlane', condition: 'KORCReady', status: 'False', reason: 'ExternalSecretsNotInstalled', meaning: 'Install it.' },
  { kind: 'ControlPlane', condition: 'DBCredentialsReady', status: 'False', reason: 'ExternalSecretsNotInstalled', meaning: 'Install it.' },
  { kind: 'Keystone', event: 'Warning', reason: 'RotationRejected', meaning: 'Look at the Job.' },
]

const found = (text) => findReasons(entries, text).map((entry) => `${entry.condition ?? entry.event}/${entry.reason}`)

test('a reason is found by itself and in what kubectl prints', () => {
  assert.deepEqual(found('DBSyncFailed'), ['DatabaseReady/DBSyncFailed'])
  assert.deepEqual(found('  reason: DBSyncFailed\n  status: "False"\n  type: DatabaseReady'), ['DatabaseReady/DBSyncFailed'])
  assert.deepEqual(found('Warning  RotationRejected  2m  keystone-controller'), ['Warning/RotationRejected'])
})

test('what is fine is left out beside what is not', () => {
  assert.deepEqual(found('SecretsReady True SecretsAvailable\nDatabaseReady False DBSyncFailed'), ['DatabaseReady/DBSyncFailed'])
  assert.deepEqual(found('SecretsAvailable'), ['SecretsReady/SecretsAvailable'])
})

test('of a reason in several conditions the one in the text counts', () => {
  assert.equal(found('ExternalSecretsNotInstalled').length, 2)
  assert.deepEqual(found('KORCReady=False ExternalSecretsNotInstalled'), ['KORCReady/ExternalSecretsNotInstalled'])
})

test('other words are looked for anywhere', () => {
  assert.deepEqual(found('correct quotes'), ['DatabaseReady/DBSyncFailed'])
  assert.deepEqual(found('dbsync'), ['DatabaseReady/DBSyncFailed'])
  assert.deepEqual(found('no such thing'), [])
  assert.deepEqual(found('  '), [])
})
