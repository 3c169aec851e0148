// Writes deploy/grafana from scripts/dashboards, and the chart's copies of these dashboards and of Prometheus' rules:
// Helm reads nothing outside of a chart. With --check it only reports whether the committed files are up to date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { database } from "./dashboards/database.ts";
import { events } from "./dashboards/events.ts";
import { dashboardJson } from "./dashboards/json.ts";
import { libraries } from "./dashboards/libraries.ts";
import { overview } from "./dashboards/overview.ts";
import { registry } from "./dashboards/registry.ts";
import { securityData } from "./dashboards/security-data.ts";

const root = dirname(import.meta.dirname);
const RULES = "moorage.rules.yaml";
const files = new Map<string, string>();
for (const dashboard of [overview, registry, securityData, events, libraries, database]) {
  const text = dashboardJson(dashboard);
  files.set(`deploy/grafana/${dashboard.uid}.json`, text);
  files.set(`deploy/helm/moorage/files/grafana/${dashboard.uid}.json`, text);
}
files.set(`deploy/helm/moorage/files/${RULES}`, readFileSync(join(root, "deploy/prometheus", RULES), "utf8"));

for (const [path, text] of files) {
  const file = join(root, path);
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(`${path} is out of date: run \`npm run generate\` and commit what it changes`);
    process.exitCode = 1;
  }
}
