// Writes chain inputs, one {"id", "input"} per line: the same bytes for the
// same count and seed. Usage: node generate.mjs COUNT SEED FILE
import { createWriteStream } from "node:fs";
import { once } from "node:events";

const [count, seed, file] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];

let state = seed >>> 0;
// mulberry32
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const chance = (p) => random() < p;
const below = (n) => Math.floor(random() * n);
const one = (list) => list[below(list.length)];
const many = (least, most, make) => Array.from({ length: least + below(most - least + 1) }, (_, i) => make(i));
// Drops keys whose value is undefined, as JSON.stringify does for objects.
const maybe = (p, make) => (chance(p) ? make() : undefined);

const words = ["order", "refund", "customer", "expected", "found", "missing", "late", "total", "naïve", "日本", "value", "ship"];
const tools = ["search_orders", "get_order", "refund_order", "list_customers", "echo"];
const kinds = [
  "toolDescriptionsPresent", "toolNamesUnique", "toolCalledAtLeastOnce", "firstToolWas", "toolNeverCalled",
  "toolCallCountUnder", "argumentsMatchToolSchema", "noRepeatedIdenticalCall", "noToolErrors", "toolLatencyUnder",
  "toolResultContains", "toolCalledWith", "responseContains", "responseMatches", "finalAssistantMessageNonEmpty", "newKind",
];
const text = () => many(2, chance(0.05) ? 90 : 6, () => one(words)).join(" ");
const call = () => ({ toolName: one(tools), arguments: chance(0.5) ? {} : { id: below(1000), query: text() } });
const signal = (phase) => {
  const failed = chance(0.2);
  return {
    outcome: failed ? "failed" : "ok",
    attribution: failed ? one(["ours", "theirs", "unknown"]) : undefined,
    egressVerified: failed ? maybe(0.6, () => chance(0.7)) : undefined,
    spanIds: maybe(0.6, () => many(1, 3, (i) => `run-${phase}-${i}`)),
    durationMs: maybe(0.6, () => below(2000)),
    reasons: failed ? maybe(0.6, () => many(1, 3, text)) : undefined,
  };
};
const span = (i) => ({
  id: maybe(0.95, () => `s${i}`),
  category: one(["tool", "tool", "tool", "llm", "step"]),
  status: maybe(0.9, () => (chance(0.12) ? "error" : "ok")),
  toolName: maybe(0.6, () => one(tools)),
  promptIndex: maybe(0.5, () => below(4)),
  mcpErrorCode: maybe(0.06, () => one([-32000, -32001, -32602, -32603])),
});
const turn = (i) => ({
  promptIndex: maybe(0.9, () => i),
  expectedToolCalls: maybe(0.7, () => many(0, 2, call)),
  missing: maybe(0.7, () => (chance(0.1) ? [call()] : [])),
  unexpected: maybe(0.7, () => (chance(0.15) ? [call()] : [])),
  argumentMismatches: maybe(0.7, () => (chance(0.1) ? [call()] : [])),
  passed: maybe(0.8, () => chance(0.8)),
});
const row = () => ({
  passed: maybe(0.95, () => chance(0.8)),
  reason: maybe(0.8, text),
  status: maybe(0.08, () => one(["scored", "error"])),
  predicate: maybe(0.9, () => ({ type: one(kinds), toolName: maybe(0.5, () => one(tools)), role: maybe(0.3, () => one(["required", "advisory"])) })),
});
const input = () => ({
  authored: {
    mode: chance(0.85) ? "model_driven" : "model_free",
    isNegativeTest: maybe(0.15, () => chance(0.5)),
    expectsToolCall: maybe(0.7, () => chance(0.8)),
    expectsWidgetRender: maybe(0.05, () => true),
    assertionCount: maybe(0.9, () => below(4)),
    toolExpectation: maybe(0.1, () => one(["required", "not_required", "open"])),
  },
  evidence: {
    spans: maybe(0.8, () => many(0, 8, span)),
    traceLacksSpanChannel: maybe(0.05, () => true),
    traceAbsent: maybe(0.05, () => true),
    prompts: maybe(0.8, () => many(0, 3, turn)),
    predicateResults: maybe(0.7, () => many(0, 6, row)),
    toolErrors: maybe(0.1, () => many(0, 2, () => ({ kind: one(["content-error", "protocol-error"]), toolName: one(tools) }))),
    stepError: maybe(0.1, () => ({ source: "model", code: "rate_limit", httpStatus: 429 })),
    renderObservations: maybe(0.05, () => many(0, 2, () => ({ status: one(["rendered", "mount_failed"]) }))),
    toolSignals: maybe(0.3, () => ({ toolsTotalBefore: below(20), toolsExposed: below(20) })),
    setupSignals: maybe(0.7, () => ({ connection: signal("connect"), discovery: maybe(0.9, () => signal("toolslist")) })),
    evaluatorErrored: maybe(0.03, () => true),
    judgeEvidence: maybe(0.25, () => ({ status: "scored", verdict: one(["pass", "partial", "fail"]), reasons: many(0, 3, text) })),
    metadataAttribution: maybe(0.1, () => ({ status: "scored", attributed: chance(0.5), reasons: many(0, 2, text) })),
  },
  iteration: { status: one(["completed", "completed", "completed", "completed", "failed", "timed_out", "cancelled", "setup_failed"]), error: maybe(0.1, text) },
  policy: maybe(0.05, () => ({ blocked: chance(0.5), reason: text() })),
});

const out = createWriteStream(file);
for (let i = 0; i < count; i += 1) {
  if (!out.write(`${JSON.stringify({ id: `chain-${i}`, input: input() })}\n`)) await once(out, "drain");
}
out.end();
await once(out, "finish");
