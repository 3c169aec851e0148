// Reports of scanners.
import { eventually } from "../eventually.ts";
import { startAdapter, VULNERABILITIES } from "../scanner-adapter.ts";
import { pushHolding } from "./images.ts";
import type { HeavyAnswer, HeavyInput, HeavyWorld } from "./input.ts";

/** Nearly the largest report that is taken: 50,000 vulnerabilities in 16 MiB. */
const ITEMS = 50_000;
const DESCRIPTION = "d".repeat(200);

async function json<T>(world: HeavyWorld, method: string, path: string, body?: object): Promise<T> {
  const { status, text } = await world.send(method, path, {
    token: world.platform,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}

export const REPORTS: readonly HeavyInput[] = [
  {
    title: "a scanner's report of 50,000 vulnerabilities",
    statuses: [200],
    env: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    async prepare(world) {
      const adapter = await startAdapter();
      const report = JSON.stringify({
        scanner: { name: "Heavy", vendor: "Tests", version: "1" },
        vulnerabilities: Array.from({ length: ITEMS }, (_, n) => ({
          id: `CVE-2026-${n}`,
          package: `package-${n}`,
          version: "1.0.0",
          severity: "High",
          description: DESCRIPTION,
        })),
      });
      adapter.intercept = (request, response) => {
        if (request.url?.includes("/report") !== true) return false;
        response.writeHead(200, { "content-type": VULNERABILITIES });
        response.end(report);
        return true;
      };
      const { repo, digests } = await pushHolding(world, [{ packages: 1 }]);
      const scanner = { name: "heavy", url: adapter.url };
      await json(world, "POST", `/vulnerabilities/v2/scanners/${world.organization.uid}`, scanner);
      // The answer is that the report was read.
      return async (began): Promise<HeavyAnswer> => {
        const before = await world.metric("moorage_large_tasks_total");
        const asked = { digest: digests[0], type: "SCAN_TYPE_VULNERABILITY" };
        const { scans } = await json<{ scans: { uid: string }[] }>(
          world,
          "POST",
          `/vulnerabilities/v2/repos/${repo}:scan`,
          asked,
        );
        const path = `/vulnerabilities/v2/scans/${scans[0]?.uid}`;
        await eventually(async () => {
          const { state, reason } = await json<{ state: string; reason: string }>(world, "GET", path);
          if (state === "SCAN_STATE_FAILED") throw new Error(reason);
          return state === "SCAN_STATE_DONE";
        });
        began?.(200);
        // Waiting for the adapter and packing the report leave time for pings, wherever it is read.
        const isElsewhere = (await world.metric("moorage_large_tasks_total")) > before;
        return { status: isElsewhere ? 200 : 500, headers: {}, bytes: 0, text: "where the report was read" };
      };
    },
  },
];
