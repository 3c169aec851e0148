import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TarEntry, tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// A list about many images says of how many of them the findings are not known, and another list has these.

interface Summary {
  notRead: number;
  noData: number;
  atLeast: boolean;
  uncovered: { ecosystem: string; images: number; preset: string }[];
}
interface UnknownOfRepo {
  repo: string;
  digest: string;
  tags: string[];
  platform: string;
  state: string;
  reason: string;
  waits: boolean;
}

const NPM = npmFile("app", "left-pad", "1.0.0");
const DPKG: TarEntry[] = [
  { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\n' },
  {
    path: "var/lib/dpkg/status",
    content: "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0-1\n\n",
  },
];
/** A database of BerkeleyDB, which is not read. */
const RPM: TarEntry = {
  path: "var/lib/rpm/Packages",
  content: Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x15, 6, 0]),
};

let platform: Platform;
let places: [Place, Place];
const digests: Record<string, string> = {};
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putRecords(platform, "npm", "osv", [osvOf("NPM-1", affectedBefore("other", "9.0.0"))]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  places = [await newRepoPlace(platform, token), await newRepoPlace(platform, token)];
  const [app, other] = places;
  const push = async (to: Place, tag: string, files: readonly TarEntry[]): Promise<void> => {
    digests[tag] = await pushLayers(to, tag, [tarOf([...files, { path: `unknown-${tag}` }])]);
  };
  await push(app, "known", [NPM]);
  await push(app, "debian", [NPM, ...DPKG]);
  await push(app, "part", [NPM, RPM]);
  digests["damaged"] = await pushLayers(app, "damaged", [Buffer.from("no archive")]);
  await push(app, "nothing", []);
  await push(other, "elsewhere", DPKG);
  digests["index"] = await pushIndex(other, "index", [
    [digests["elsewhere"] ?? "", { os: "linux", architecture: "arm64" }],
  ]);
  await eventually(async () => {
    const images = await unknownIn("");
    return images.length === 5 && !images.some(({ waits }) => waits);
  });
});
after(() => platform.close());

const summaryOf = async (query: string): Promise<Summary> =>
  (await platform.ok<{ unknownSummary: Summary }>("GET", `/vulnerabilities/v2/findings?${query}`)).unknownSummary;
async function unknownIn(query: string, size = 200): Promise<UnknownOfRepo[]> {
  const found: UnknownOfRepo[] = [];
  let token = "";
  do {
    const page = await platform.ok<{ unknownImages: UnknownOfRepo[]; nextPageToken: string }>(
      "GET",
      `/vulnerabilities/v2/unknownImages?${query}&page_size=${size}&page_token=${encodeURIComponent(token)}`,
    );
    found.push(...page.unknownImages);
    token = page.nextPageToken;
  } while (token !== "");
  return found;
}
const namesOf = (images: readonly UnknownOfRepo[]): string[] =>
  images.map(({ tags, state }) => `${tags.toSorted().join()} ${state.replace("KNOWLEDGE_STATE_", "")}`).sort();

test("a list of findings says of how many images in its scope they are not known, whatever it asks for", async () => {
  const all: Summary = {
    notRead: 3,
    noData: 2,
    atLeast: false,
    uncovered: [{ ecosystem: "debian 12", images: 2, preset: "debian" }],
  };
  assert.deepEqual(await summaryOf(""), all);
  assert.deepEqual(await summaryOf("vulnerabilities=CVE-2026-1&min_severity=HIGH"), all);
  const [app, other] = places;
  assert.deepEqual(await summaryOf(`repo=${app.repo}`), {
    ...all,
    noData: 1,
    uncovered: [{ ecosystem: "debian 12", images: 1, preset: "debian" }],
  });
  assert.deepEqual(await summaryOf(`uidp.descendants_of=${other.repo}`), {
    ...all,
    notRead: 0,
    noData: 1,
    uncovered: [{ ecosystem: "debian 12", images: 1, preset: "debian" }],
  });
});

test("the images that are not known are listed in pages, with the reason, by repo and by state", async () => {
  const all = ["damaged NOT_READ", "debian NO_DATA", "elsewhere,index NO_DATA", "nothing NOT_READ", "part NOT_READ"];
  assert.deepEqual(namesOf(await unknownIn("")), all);
  assert.deepEqual(namesOf(await unknownIn("", 1)), all, "in pages of one");
  const [app, other] = places;
  assert.deepEqual(namesOf(await unknownIn(`repo=${app.name}`)), all.toSpliced(2, 1));
  assert.deepEqual(namesOf(await unknownIn("state=NO_DATA")), all.slice(1, 3));
  const [image] = await unknownIn(`repo=${other.repo}`);
  assert.deepEqual(
    { ...image, tags: [] },
    {
      repo: other.repo,
      digest: digests["elsewhere"],
      tags: [],
      platform: "linux/arm64",
      state: "KNOWLEDGE_STATE_NO_DATA",
      reason: "no feed covers 1 package of debian 12 (moorage feeds add debian would)",
      waits: false,
    },
  );
  const token = await platform.token();
  const nowhere = await platform.call("GET", "/vulnerabilities/v2/unknownImages?repo=acme/nowhere", { token });
  assert.equal(nowhere.status, 404);
});
