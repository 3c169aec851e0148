// Harbor 2, by its own API: projects, repositories, and artifacts with their tags and since when those are there.
// Source: Harbor's API description, api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { API, type Fields, listOf, openProjects, textIn, timeIn } from "./harbor-api.ts";
import { labelsOf } from "./harbor-labels.ts";
import { isTrue } from "./harbor-gate.ts";
import { openMemberReader } from "./harbor-members.ts";
import { robotOf } from "./harbor-robots.ts";
import { harborRules, ofEach, openTagNotes } from "./harbor-rules.ts";
import { isDigest, isTag, publicMember, type Source, type SourceRepo, type SourceTag } from "./model.ts";
import { faultOfGroup } from "./plan.ts";
import { SourceError } from "./source-error.ts";

const PROXY = "is of a project that caches another registry: it comes from there when it is pulled";

/** What of Harbor is read. */
interface HarborOptions {
  /** The projects that are to come; all that the caller sees without. */
  projects?: readonly string[] | undefined;
  /** The issuer of the people there. */
  issuer?: string | undefined;
  /** What ends before is over. */
  nowMs: number;
}

export function harborSource(client: SourceClient, { projects, issuer, nowMs }: HarborOptions): Source {
  const projectOf = openProjects(client);
  const members = openMemberReader(client, issuer);
  const listed = new Set<string>();
  const seen = openTagNotes();
  return {
    hasHistory: true,
    leavesBehind: "robots of the system, scanners, and the settings of the system",
    groups: () => [...listed],
    async *repos() {
      const asked = new Set(projects);
      for await (const project of listOf(client, `${API}/projects`, "name")) {
        const name = textIn(project, "name");
        if (projects !== undefined && !asked.delete(name)) continue;
        listed.add(name);
        yield* reposOf(client, name, typeof project["registry_id"] === "number" && project["registry_id"] > 0);
      }
      const [unknown] = asked;
      if (unknown !== undefined) throw new SourceError(`the source has no project ${unknown} that we see`);
    },
    robots: () =>
      ofEach(
        coming(listed),
        async function* (name) {
          const query = `q=${encodeURIComponent(`Level=project,ProjectID=${(await projectOf(name)).id}`)}&`;
          for await (const robot of listOf(client, `${API}/robots`, "id", query)) yield robotOf(name, robot, nowMs);
        },
        (name, fault) => ({ source: `${name}: robots`, below: name, fault }),
      ),
    members: () =>
      ofEach(
        coming(listed),
        async function* (name) {
          const { id, metadata } = await projectOf(name);
          if (isTrue(metadata["public"])) yield publicMember(`${name}: public project`, name);
          const path = `${API}/projects/${id}/members`;
          for await (const member of listOf(client, path, "id")) yield await members.memberOf(name, member);
        },
        (name, fault) => ({ kind: "person", source: `${name}: members`, below: name, roles: [], fault }),
      ),
    policies: (repos) => harborRules(client, { projectOf, seen, nowMs }, coming(listed), repos),
    async *tags(repo) {
      const cut = repo.indexOf("/");
      // Harbor wants the slashes of a repository's name encoded twice.
      const name = encodeURIComponent(encodeURIComponent(repo.slice(cut + 1)));
      const path = `${API}/projects/${encodeURIComponent(repo.slice(0, cut))}/repositories/${name}/artifacts`;
      for await (const artifact of listOf(client, path, "digest", "with_tag=true&with_label=true&")) {
        seen.note(repo, artifact);
        yield* tagsOf(artifact);
      }
    },
  };
}

/** The projects whose names can be those of groups; the plan has the others as what cannot come. */
function coming(names: Iterable<string>): string[] {
  return [...names].filter((name) => faultOfGroup(name) === undefined).toSorted();
}

async function* reposOf(client: SourceClient, project: string, isProxy: boolean): AsyncGenerator<SourceRepo> {
  for await (const repo of listOf(client, `${API}/projects/${encodeURIComponent(project)}/repositories`, "name")) {
    const name = textIn(repo, "name");
    if (!name.startsWith(`${project}/`))
      yield { name, fault: `is listed in the project ${project}, and is of another` };
    else yield { name, ...(isProxy && { fault: PROXY }) };
  }
}

function* tagsOf(artifact: Fields): Generator<SourceTag> {
  const digest = textIn(artifact, "digest");
  const listed = isList(artifact["tags"]) ? artifact["tags"] : [];
  const tags = listed.filter(isObject);
  if (tags.length < listed.length)
    yield {
      name: `@${digest}`,
      digest: "",
      moves: [],
      fault: `has ${listed.length - tags.length} tags that cannot be read`,
    };
  else if (tags.length === 0) yield { name: `@${digest}`, digest: "", moves: [], fault: "has no tag" };
  for (const tag of tags) {
    const name = textIn(tag, "name");
    if (!isTag(name)) yield { name, digest: "", moves: [], fault: "is not a valid tag name" };
    else if (!isDigest(digest))
      yield { name, digest: "", moves: [], fault: "points to something that is not a digest" };
    else {
      const timeMs = timeIn(tag, "push_time") ?? timeIn(artifact, "push_time");
      yield { name, digest, moves: timeMs === undefined ? [] : [{ digest, timeMs }], ...labelsOf(artifact) };
    }
  }
}
