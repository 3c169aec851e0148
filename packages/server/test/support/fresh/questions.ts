import { create, type DescMessage, type DescMethod, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { GroupsService, ReposService, RoleBindingsService, TagsService } from "@moorage/api";
import type { Dice } from "../dice.ts";
import { type Actor, type Asked, digestOf, LOOSE, pathOf, type Repo, TAGS, type World } from "./world.ts";

/** What a question should be about; all else is chosen by the dice. */
export interface About {
  actor?: Actor | undefined;
  repo?: Repo | undefined;
}
// Those who may do little, or nothing, ask less than the others.
const RARE = ["stranger", "pull token", "anonymous", "nobody"];
const MAX_ASKED = 300;

/** Something to ask, by anybody, about anything that there is, was, or may be; often what was asked before. */
export function questionOf(world: World, dice: Dice, about: About): Asked {
  const { asked } = world;
  const isAboutActor = about.actor !== undefined;
  const before = asked.length === 0 ? undefined : dice.pick(asked);
  if (before !== undefined && dice.chance(0.4) && (!isAboutActor || before.actor === about.actor?.name))
    return revalidating(world, dice, before);
  const everybody = [...world.actors.values()];
  const often = everybody.filter(({ name }) => !RARE.includes(name));
  const actor = about.actor ?? dice.pick(dice.chance(0.8) ? often : everybody);
  const repo = about.repo ?? (dice.chance(0.5) ? actor.home : undefined) ?? dice.pick(world.repos);
  const kind = dice.below(20);
  const made =
    kind === 0
      ? rpc(world, dice, actor, repo)
      : kind < 10
        ? rest(world, dice, actor, repo)
        : registry(world, dice, actor, repo);
  if (asked.length < MAX_ASKED) asked.push(made);
  else asked[dice.below(MAX_ASKED)] = made;
  return made;
}

/**
 * The question, sometimes with If-None-Match: the entity tag of an answer that its caller had before, which may be
 * another by now.
 */
export function revalidating({ etags }: World, dice: Dice, question: Asked): Asked {
  const etag = etags.get(`${question.actor} ${question.path}`);
  return etag === undefined || dice.chance(0.5)
    ? question
    : { ...question, headers: { ...question.headers, "if-none-match": etag } };
}

function rest(world: World, dice: Dice, actor: Actor, repo: Repo): Asked {
  const path = dice.chance(0.3) ? placePath(world, dice) : repoPath(world, dice, repo);
  return askedBy(actor, "GET", nextPage(world, dice, actor, path), actor.platform);
}

function repoPath({ images, groups }: World, dice: Dice, { uid, names, tags, above }: Repo): string {
  const below = dice.chance(0.5) ? `uidp.children_of=${above.uid}` : `uidp.descendants_of=${dice.pick(groups).uid}`;
  const size = dice.pick(["&page_size=2", "&page_size=1&skip=1", "", "&page_size=50"]);
  const tagsOf = `/registry/v2/tags?uidp.children_of=${uid}`;
  switch (dice.below(8)) {
    case 0:
      return `/registry/v2/repos/${uid}${dice.pick(["", "/readme"])}`;
    case 1:
      return `/registry/v2/repos?${below}${size}${dice.pick(["", `&name=${dice.pick(names)}`, "&order_by=name%20desc", "&order_by=description"])}`;
    case 2:
      return `/registry/v2/repos${size === "" ? "" : `?${size.slice(1)}`}`;
    case 3:
      return `${tagsOf}${size}${dice.pick(["", `&name=${dice.pick(TAGS)}`, "&order_by=update_time%20desc", `&digest=${dice.pick(images).digest}`])}`;
    case 4:
      return `/registry/v2/tags?${below}&page_size=50`;
    case 5:
      return `/registry/v2/tags/${dice.pick([...tags.values(), uid])}`;
    case 6:
      return `/registry/v2/repos/${uid}/digests/${dice.pick(images).digest}/${dice.pick(["size", "architectures"])}`;
    default:
      return `/registry/v2/repos/${uid}`;
  }
}

function placePath({ groups, actors, roles, changing, bindings }: World, dice: Dice): string {
  const group = dice.pick(groups);
  const size = dice.pick(["", "&page_size=2", "&page_size=100"]);
  const below = dice.pick([`uidp.descendants_of=${group.uid}`, `uidp.children_of=${group.uid}`]);
  switch (dice.below(7)) {
    case 0:
      return `/iam/v2/groups/${group.uid}`;
    case 1:
      return `/iam/v2/groups?${below}${size}${dice.pick(["", `&name=${dice.pick(group.names)}`, "&order_by=create_time"])}`;
    case 2:
      return `/iam/v2/identities?${below}${size}`;
    case 3:
      return `/iam/v2/identities/${dice.pick([...actors.values()]).uid || group.uid}`;
    case 4:
      return `/iam/v2/roles${dice.pick([`/${changing}`, "?page_size=3", `?uidp.descendants_of=${group.uid}`, `/${dice.pick([...roles.values()])}`])}`;
    case 5:
      return `/iam/v2/roleBindings?${below}${size}`;
    default:
      return `/iam/v2/roleBindings${dice.pick([`/${dice.pick(bindings).uid || group.uid}`, `?group=${group.uid}`])}`;
  }
}

/** Sometimes the page after one that was answered before. */
function nextPage({ pages }: World, dice: Dice, actor: Actor, path: string): string {
  const token = pages.get(`${actor.name} ${path}`);
  return token === undefined || dice.chance(0.5) ? path : `${path}&page_token=${encodeURIComponent(token)}`;
}

function registry(world: World, dice: Dice, actor: Actor, repo: Repo): Asked {
  const now = pathOf(repo);
  const cut = now.lastIndexOf("/");
  // The names of a group or a repo that it had, and may have again.
  const name = dice.chance(0.8)
    ? now
    : dice.chance(0.5)
      ? `${now.slice(0, cut)}/${repo.names[1]}`
      : `${pathOf({ ...repo.above, names: [repo.above.names[1], ""] })}/${repo.names[0]}`;
  const method = dice.pick(["GET", "GET", "HEAD"]);
  const images = [...world.images, world.index, ...world.referrers];
  const digest = dice.pick(images).digest;
  const tag = dice.pick(TAGS);
  const ask = (path: string, verb = method, more: Record<string, string> = {}): Asked =>
    askedBy(actor, verb, `/v2/${name}/${path}`, actor.registry, more);
  switch (dice.below(12)) {
    case 0:
    case 1:
    case 2:
      return ask(`manifests/${tag}`);
    case 3:
    case 4:
      return ask(`manifests/${digest}`);
    case 5:
    case 6:
      return ask(`blobs/${digestOf(dice.pick([LOOSE, ...dice.pick(world.images).blobs]))}`);
    case 7:
      return ask(`blobs/${digestOf(LOOSE)}`, "GET", { range: "bytes=2-6" });
    case 8:
      return ask(`tags/list${dice.pick(["", "?n=2", "?n=2&last=latest"])}`, "GET");
    case 9:
      return dice.chance(0.5) ? ask(`_service/history/${tag}`, "GET") : ask(`_oci/tag-history/${tag}`, "GET");
    case 10:
      return world.moments.length === 0 ? ask(`manifests/${tag}`) : ask(`manifests/${tag}${dice.pick(world.moments)}`);
    default:
      return ask(
        `referrers/${world.images[0]?.digest ?? ""}${dice.pick(["", "?artifactType=application/vnd.example.note"])}`,
        "GET",
      );
  }
}

function askedBy(
  actor: Actor,
  method: string,
  path: string,
  authorization: string | undefined,
  more: Record<string, string> = {},
): Asked {
  return {
    actor: actor.name,
    method,
    path,
    headers: { ...(authorization !== undefined && { authorization }), ...more },
  };
}

function rpc({ groups, bindings }: World, dice: Dice, actor: Actor, { uid, tags }: Repo): Asked {
  const ask = <I extends DescMessage>(method: DescMethod & { input: I }, message: MessageInitShape<I>): Asked => ({
    actor: actor.name,
    method: "POST",
    path: `/${method.parent.typeName}/${method.name}`,
    headers: actor.platform === undefined ? {} : { authorization: actor.platform },
    grpc: toBinary(method.input, create(method.input, message)),
  });
  const group = dice.pick(groups).uid;
  const below = { uidp: { descendantsOf: group }, pageSize: 200 };
  switch (dice.below(7)) {
    case 0:
      return ask(ReposService.method.listRepos, below);
    case 1:
      return ask(TagsService.method.listTags, below);
    case 2:
      return ask(TagsService.method.getTag, { uid: dice.pick([...tags.values(), uid]) });
    case 3:
      return ask(GroupsService.method.getGroup, { uid: group });
    case 4:
      return ask(RoleBindingsService.method.getRoleBinding, { uid: dice.pick(bindings).uid });
    default:
      return ask(ReposService.method.getRepo, { uid });
  }
}
