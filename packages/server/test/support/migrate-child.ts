// A migration in a process of its own, for tests that run several concurrently. Prints the version afterwards.
import { loadConfig, migrateInstallation } from "../../src/index.ts";

console.log((await migrateInstallation(loadConfig(process.env), { check: false })).now);
