// Prints the expressions of Grafana's dashboards as recording rules of Prometheus, which promtool can check; Grafana's
// variables have values as Grafana would give them.
//
//   node .ci/dashboard-rules.ts deploy/grafana/*.json
import { readFileSync } from "node:fs";

interface Board {
  panels: { targets?: { expr: string }[] }[];
}

const rules = process.argv
  .slice(2)
  .flatMap((file) => (JSON.parse(readFileSync(file, "utf8")) as Board).panels)
  .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  .map((expression, at) => ({
    record: `dashboard:expression_${at}`,
    expr: expression.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:job|instance)/g, ".*"),
  }));
// JSON is YAML.
console.log(JSON.stringify({ groups: [{ name: "dashboards", rules }] }));
