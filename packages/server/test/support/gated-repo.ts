import { tarOf } from "./catalog/archives.ts";
import { npmFile } from "./catalog/catalog.ts";
import { newRepoPlace, type Place } from "./catalog/place.ts";
import { pushLayers } from "./catalog/push.ts";
import { eventually } from "./eventually.ts";
import { osvOf, plainRecord, putRecords } from "./feed-records.ts";
import { before as affectedBefore } from "./matching.ts";
import type { Answer, Platform } from "./platform.ts";

export const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
const LOW = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N" }] };

/** A package of npm that the records of `putGateRecords` say nothing about. */
export const CLEAN = ["clean", "1.0.0"] as const;
/** A critical, fixable, known to be exploited vulnerability: CVE-2026-1. */
export const BAD = ["bad", "1.0.0"] as const;
/** A low one without a fix: CVE-2026-2. */
export const MILD = ["mild", "1.0.0"] as const;
/** A critical one that is fixable and not known to be exploited: CVE-2026-3. */
export const SEVERE = ["severe", "1.0.0"] as const;

/** `affected` of an OSV record: every version of the package. */
const anyVersion = (name: string): object => ({
  affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }] }],
});

export async function putGateRecords(platform: Platform): Promise<void> {
  await putRecords(platform, "osv", "osv", [
    osvOf("CVE-2026-1", { ...affectedBefore("bad", "2.0.0"), ...CRITICAL }),
    osvOf("CVE-2026-2", { ...anyVersion("mild"), ...LOW }),
    osvOf("CVE-2026-3", { ...affectedBefore("severe", "3.0.0"), ...CRITICAL }),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
}

/** An event of a gate, as stored. */
interface GateEvent {
  type: string;
  subject: string;
  actor: string;
  body: {
    repository: string;
    tag: string;
    digest: string;
    action: string;
    count: number;
    findings: { vulnerability: string; severity: string; kev: boolean; package: string; fix_versions: string[] }[];
    unknown?: { digest: string; reason: string; waits: boolean }[];
  };
}

/** A repo with a vulnerability gate, of the platform's organization. */
export interface GatedRepo extends Place {
  /** Sets the gate; undefined removes the policy. */
  gate(vulnerabilities: object | undefined): Promise<void>;
  /** Pushes an image with these packages of npm as the tag, and waits for its findings and their event. */
  push(tag: string, ...packages: (readonly [name: string, version: string])[]): Promise<string>;
  /** Asks for a manifest as somebody who may only pull. */
  pull(reference: string, method?: string): Promise<Answer>;
  /** Pulls until that status is answered. */
  pulledAs(reference: string, status: number): Promise<Answer>;
  /** The gate's events in this repo, in their order. */
  events(): Promise<GateEvent[]>;
  /** Waits for that many events. */
  eventsUntil(count: number): Promise<GateEvent[]>;
}

let images = 0;

export async function openGatedRepo(platform: Platform, vulnerabilities?: object): Promise<GatedRepo> {
  const { organization, owner, url } = platform;
  const audience = new URL(url).host;
  const place = await newRepoPlace(platform, await platform.token(owner, { audience }));
  const viewer = await platform.identity(organization, "viewer");
  // The same token, as long as the clock is not moved: an answer is cached for a token.
  let known: { token: string; offsetMs: number } | undefined;
  const viewersToken = async (): Promise<string> => {
    const { offsetMs } = platform.clock;
    if (known?.offsetMs !== offsetMs) known = { token: await platform.token(viewer, { audience }), offsetMs };
    return known.token;
  };
  const findings = async (digest: string): Promise<void> => {
    await eventually(async () => {
      const catalog = await platform.reader
        .selectFrom("image_catalogs")
        .select("state")
        .where("digest", "=", digest)
        .executeTakeFirst();
      if (catalog?.state !== 2) return false;
      const { reader } = platform;
      const left = await Promise.all([
        reader.selectFrom("packages").select("id").where("matched", "is", null).limit(1).execute(),
        reader.selectFrom("finding_causes").select("id").limit(1).execute(),
        reader.selectFrom("finding_checks").select("digest").limit(1).execute(),
      ]);
      return left.every((rows) => rows.length === 0);
    });
  };
  const repo: GatedRepo = {
    ...place,
    async gate(gate) {
      const tagPolicy = gate === undefined ? undefined : { vulnerabilities: gate };
      await platform.ok("PATCH", `/registry/v2/repos/${place.repo}?updateMask=tagPolicy`, { tagPolicy });
    },
    async push(tag, ...packages) {
      images += 1;
      const files = packages.map(([name, version]) => npmFile("app", name, version));
      const digest = await pushLayers(place, tag, [tarOf([...files, { path: `image-${images}` }])]);
      await findings(digest);
      return digest;
    },
    async pull(reference, method = "GET") {
      return await platform.call(method, `/v2/${place.name}/manifests/${reference}`, { token: await viewersToken() });
    },
    async pulledAs(reference, status) {
      return await eventually(
        async () => {
          const answer = await repo.pull(reference);
          return answer.status === status && answer;
        },
        { instead: async () => (await repo.pull(reference)).text },
      );
    },
    async events() {
      const found = await platform.transact(async (tx) => [
        ...(await tx.selectFrom("events").selectAll().where("subject", "=", place.repo).orderBy("seq").execute()),
        ...(await tx.selectFrom("event_outbox").selectAll().where("subject", "=", place.repo).orderBy("n").execute()),
      ]);
      return found
        .filter(({ type }) => type.startsWith("registry.gate."))
        .map(({ type, subject, actor, body }) => ({
          type,
          subject,
          actor: (JSON.parse(actor) as { subject: string }).subject,
          body: JSON.parse(body) as GateEvent["body"],
        }));
    },
    async eventsUntil(count) {
      return await eventually(
        async () => {
          const found = await repo.events();
          return found.length >= count && found;
        },
        { instead: () => repo.events() },
      );
    },
  };
  if (vulnerabilities !== undefined) await repo.gate(vulnerabilities);
  return repo;
}
