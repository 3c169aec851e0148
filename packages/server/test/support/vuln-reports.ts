import { tarOf } from "./catalog/archives.ts";
import { npmFile } from "./catalog/catalog.ts";
import { pushLayers, type PushTarget } from "./catalog/push.ts";
import { eventually } from "./eventually.ts";
import { type Platform, startPlatform } from "./platform.ts";

const DAY_MS = 86_400_000;

/** A repo whose images are read and matched, on a platform whose days a test moves on. */
export interface TaggedRepo {
  platform: Platform;
  uid: string;
  /** `<organization>/team/<image>` */
  path: string;
  /** Where images are pushed, with a token that is good on this day. */
  target(): Promise<PushTarget>;
  /** Pushes an image with these packages of npm, as `left-pad@1.0.0`, to which no tag that tests ask about points. */
  image(...packages: string[]): Promise<string>;
  /** Waits until all that was pushed is read and matched with all records. */
  settled(): Promise<void>;
  move(digest: string, tag?: string): Promise<void>;
  /** The day, as `2026-01-02`. */
  today(): string;
  /** The next day begins. Returns it. */
  nextDay(days?: number): string;
}

let repos = 0;

/** A platform with such a repo, at noon of tomorrow: a test never comes to the end of a day by itself. */
export async function taggedRepo(env: Record<string, string> = {}): Promise<TaggedRepo> {
  const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", ...env });
  const { clock, organization, owner, url, reader } = platform;
  clock.offsetMs += (Math.floor(clock.nowMs() / DAY_MS) + 1.5) * DAY_MS - clock.nowMs();
  const { uid: team } = await platform.group(organization, { name: "team" });
  repos += 1;
  const image = `app-${repos}`;
  const { uid } = await platform.repo(team, { name: image });
  const path = `${platform.bootstrap.organization.name}/team/${image}`;
  let images = 0;
  const today = (): string => new Date(clock.nowMs()).toISOString().slice(0, 10);
  const isWaiting = async (): Promise<boolean> => {
    const { value = 0 } =
      (await reader.selectFrom("matching").select("value").where("name", "=", "changes").executeTakeFirst()) ?? {};
    const left = await Promise.all([
      reader.selectFrom("image_catalogs").select("digest").where("state", "=", 1).limit(1).execute(),
      reader.selectFrom("attachment_checks").select("digest").limit(1).execute(),
      reader.selectFrom("attached_readings").select("subject").where("state", "=", 1).limit(1).execute(),
      reader.selectFrom("packages").select("id").where("matched", "is", null).limit(1).execute(),
      reader.selectFrom("feed_records").select("id").where("change", ">", value).limit(1).execute(),
    ]);
    return left.some((rows) => rows.length > 0);
  };
  const repo: TaggedRepo = {
    platform,
    uid,
    path,
    target: async () => ({ url, name: path, token: await platform.token(owner, { audience: new URL(url).host }) }),
    async image(...packages) {
      images += 1;
      const files = packages.map((each) => {
        const at = each.lastIndexOf("@");
        return npmFile("app", each.slice(0, at), each.slice(at + 1));
      });
      const layer = tarOf([...files, { path: `image-${images}` }]);
      const digest = await pushLayers(await repo.target(), `pushed-${images}`, [layer]);
      await repo.settled();
      return digest;
    },
    async settled() {
      await eventually(async () => !(await isWaiting()));
    },
    async move(digest, tag = "latest") {
      await platform.tag(uid, { name: tag, digest });
      clock.offsetMs += 1_000;
    },
    today,
    nextDay(days = 1) {
      clock.offsetMs += days * DAY_MS;
      return today();
    },
  };
  return repo;
}
