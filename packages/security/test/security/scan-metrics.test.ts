import assert from "node:assert/strict";
import { test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";
import { startAdapter } from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, scanPlace, whenScan } from "../../../server/test/support/scans.ts";

const NAME = "moorage_vulnerability_scan";

test("attempts to scan are counted as they begin and by how they end, with how long they took", async (t) => {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_SCAN_RETRY: "50ms,50ms" });
  t.after(() => platform.close());
  const adapter = await startAdapter();
  t.after(() => adapter.close());
  const samples = async (): Promise<Map<string, number>> => {
    const lines = (await (await fetch(`${platform.url}/metrics`)).text()).split("\n");
    return new Map(
      lines.flatMap((line): [string, number][] => {
        const [, name = "", value = ""] = /^(\S+) (\S+)$/.exec(line) ?? [];
        return name.startsWith(NAME) ? [[name, Number(value)]] : [];
      }),
    );
  };
  const counts = async (): Promise<(number | undefined)[]> => {
    const found = await samples();
    const ended = ["done", "again", "failed", "interrupted"].map((outcome) =>
      found.get(`${NAME}s_total{type="vulnerability",outcome="${outcome}"}`),
    );
    return [
      found.get(`${NAME}s_started_total{type="vulnerability"}`),
      ...ended,
      found.get(`${NAME}_duration_seconds_count{type="vulnerability"}`),
    ];
  };
  /** An attempt is counted after its result was stored. */
  const until = async (wanted: (number | undefined)[]): Promise<void> => {
    await eventually(async () => JSON.stringify(await counts()) === JSON.stringify(wanted), { instead: counts });
  };
  await until([0, 0, 0, 0, 0, undefined]);
  await platform.ok("POST", `/vulnerabilities/v2/scanners/${platform.organization}`, {
    name: "trivy",
    url: adapter.url,
    onRequestOnly: true,
  });
  const { repo, place } = await scanPlace(platform, "app");
  const digest = await pushLayers(place, "v1", [tarOf([npmFile("srv", "left-pad", "1.3.0")])]);
  const scan = async (state: string): Promise<void> => {
    const [requested] = await requestScans(platform, repo, digest);
    await whenScan(platform, requested?.uid ?? "", state);
  };
  await scan("DONE");
  await until([1, 1, 0, 0, 0, 1]);
  adapter.intercept = (req, res) => {
    if (req.url?.endsWith("/report") !== true) return false;
    res.writeHead(500).end();
    return true;
  };
  await scan("FAILED");
  await until([4, 1, 2, 1, 0, 4]);
  const found = await samples();
  assert.equal(found.get(`${NAME}s_started_total{type="sbom"}`), 0);
  assert.ok((found.get(`${NAME}_duration_seconds_sum{type="vulnerability"}`) ?? 0) > 0);
});
