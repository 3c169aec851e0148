import { setTimeout as wait } from "node:timers/promises";
import { api, type Moorage } from "./moorage.ts";
import { rested } from "./rows-pull-events.ts";
import { pushOf } from "./rows-push.ts";
import { type Bench, type Row, sampled, type Section } from "./rows.ts";

const PUSHERS = 16;
// A push takes two statements more for each content: by processor time, some tenth.
const GOAL = 0.85;
// More than any run pushes.
const LIMIT_BYTES = 2 ** 50;
const COUNT_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Pushes into a group with a quota and into one without, on one server, by turns. */
export async function quotaPushSection(bench: Bench): Promise<Section | undefined> {
  const {
    engine,
    loader,
    servers: [smallest],
  } = bench;
  if (smallest === undefined) return undefined;
  const { moorage } = smallest;
  const { name, uid } = moorage.organization;
  for (const group of ["free", "limited"])
    await api(moorage.platform, "POST", `/iam/v2/groups/${uid}`, { name: group });
  await limit(moorage, "limited");
  const titleFor = (how: string): string => `push, 10 layers of 4 KiB, ${PUSHERS} clients, ${how} a quota, ${engine}`;
  const row = (group: string, how: string): Row => ({
    title: titleFor(how),
    unit: "/s",
    measure: rested(moorage, ({ round, durationMs }) =>
      sampled(moorage, () =>
        loader.push({
          ...pushOf(moorage, `${name}/${group}`, "containerd", PUSHERS),
          name: `${group}-${engine.toLowerCase()}-${round}`,
          durationMs,
        }),
      ),
    ),
  });
  return {
    title: `pushes and quotas, ${engine}`,
    // What a push has left to be written to the disk slows down whoever pushes next.
    alternates: true,
    rows: [
      row("free", "without"),
      { ...row("limited", "with"), against: [{ title: titleFor("without"), goal: GOAL, byCpu: true }] },
    ],
  };
}

/** Sets a quota of bytes, which counts from then on. */
async function limit({ platform, organization }: Moorage, name: string): Promise<void> {
  const { groups } = await api<{ groups: { uid: string }[] }>(
    platform,
    "GET",
    `/iam/v2/groups?uidp.children_of=${organization.uid}&name=${name}`,
  );
  const path = `/registry/v2/quotas/${groups[0]?.uid ?? ""}`;
  await api(platform, "POST", path, { bytes: String(LIMIT_BYTES) });
  for (const endMs = performance.now() + COUNT_TIMEOUT_MS; performance.now() < endMs;) {
    const { state } = await api<{ state: string }>(platform, "GET", path);
    if (state !== "QUOTA_STATE_COUNTING") return;
    await wait(LOOK_EVERY_MS);
  }
  throw new Error("the quota was not counted in a minute");
}
