// A migration in a process of its own, for tests that run several at once. Prints the version that is there afterwards.
import { loadConfig, migrateInstallation } from "../../src/index.ts";

console.log((await migrateInstallation(loadConfig(process.env), { check: false })).now);
