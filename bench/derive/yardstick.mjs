// What Node.js takes for a bare JSON.parse and JSON.stringify of the same
// lines, reading and start-up left out: wall seconds, CPU seconds, length. Usage: node yardstick.mjs FILE
import { readFileSync } from "node:fs";

const lines = readFileSync(process.argv[2], "utf8").split("\n");
if (lines.at(-1) === "") lines.pop();
let length = 0;
const cpu = process.cpuUsage();
const start = process.hrtime.bigint();
for (const line of lines) length += JSON.stringify(JSON.parse(line)).length;
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
const { user, system } = process.cpuUsage(cpu);
// The length keeps the work from being optimized away.
console.log(`${seconds.toFixed(4)} ${((user + system) / 1e6).toFixed(4)} ${length}`);
