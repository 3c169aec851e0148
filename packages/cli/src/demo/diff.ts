// Part 3b: what differs between two points of a tag's history.
import { setTimeout as wait } from "node:timers/promises";
import { expect, heading, show, table } from "./show.ts";
import { restOk, type Stage } from "./stage.ts";

type Diff = {
  from: { digest: string; size: string };
  to: { digest: string; size: string };
  packages: { purl: string; fromVersions: string[]; toVersions: string[]; platforms: string[] }[];
  platforms: { platform: string; labels: { name: string; from: string; to: string }[]; layers: unknown[] }[];
  packagesComplete: boolean;
};

const ATTEMPTS = 300;
const BETWEEN_ATTEMPTS_MS = 200;

/** Compares the image that latest was after its first push with the one that it is now. */
export async function playDiff({ url, token, registryToken, bootstrap: { organization } }: Stage): Promise<void> {
  heading("3b. What differs between two points of the tag's history");
  const {
    repos: [repo],
  } = await restOk<{ repos: { uid: string }[] }>(`${url}/registry/v2/repos?name=hello`, "GET", token);
  const {
    history: [first],
  } = await restOk<{ history: { updateTimestamp: string }[] }>(
    `${url}/v2/${organization.name}/hello/_service/history/latest`,
    "GET",
    registryToken,
  );
  expect(repo !== undefined && first !== undefined, "there is no history to compare");
  const query = new URLSearchParams({ from: `latest@${first.updateTimestamp}`, to: "latest" });
  const diff = await whenRead(`${url}/registry/v2/repos/${repo.uid}/diff?${query}`, token);
  show(`GET /registry/v2/repos/<hello>/diff?from=latest@${first.updateTimestamp}&to=latest`, "");
  show("size", `${diff.from.size} → ${diff.to.size} bytes`);
  table(
    ["differs", "from", "to", "on"],
    [
      ...diff.packages.map((each) => [
        each.purl,
        each.fromVersions.join(", "),
        each.toVersions.join(", "),
        each.platforms.join(", "),
      ]),
      ...diff.platforms.flatMap(({ platform, labels, layers }) => [
        ...labels.map(({ name, from, to }) => [name, from, to, platform]),
        [`${layers.length} layers`, "", "", platform],
      ]),
    ],
  );
  expect(
    diff.packages.length === 1 && diff.packages[0]?.toVersions.join() === "1.2.0",
    `the diff has other packages: ${JSON.stringify(diff.packages)}`,
  );
}

/** The diff as soon as the server has read the images. */
async function whenRead(path: string, token: string): Promise<Diff> {
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const diff = await restOk<Diff>(path, "GET", token);
    if (diff.packagesComplete) return diff;
    await wait(BETWEEN_ATTEMPTS_MS);
  }
  throw new Error("the images were not read");
}
