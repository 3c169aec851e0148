import type { FormResult, FormValues, MachineForm, Problems, Snippet, SnippetPlace } from "./form.ts";
import {
  askedAudience,
  AUDIENCE,
  audienceOf,
  BRANCH,
  branchOrTag,
  globPattern,
  globWarning,
  imageOf,
  isGlob,
  issuerField,
  issuerOf,
  loginLine,
  refWords,
  TAG,
  UUID,
} from "./parts.ts";

/**
 * Jobs of CircleCI. Each organization has its own issuer, `https://oidc.circleci.com/org/ORGANIZATION_ID`. The subject
 * is `org/…/project/…/user/…`, in the second form of token with `/vcs-origin/…/vcs-ref/…` behind it. Both forms have
 * the branch in the claim `oidc.circleci.com/vcs-ref`, and whether a person restarted the job to log in to it by SSH in
 * `oidc.circleci.com/ssh-rerun`. The ids are UUIDs, which are not given twice.
 *
 * Source: https://circleci.com/docs/openid-connect-tokens/
 */
export const CIRCLECI: MachineForm = {
  name: "circleci",
  title: "CircleCI",
  fields: [
    { name: "project", label: "Project", help: "organization ID/project ID, from the settings of both" },
    BRANCH,
    TAG,
    {
      name: "origin",
      label: "Repository",
      help: "as CircleCI writes it: github.com/acme/app; keeps builds of forks out",
    },
    issuerField("of a CircleCI server of your own"),
    AUDIENCE,
  ],
  read,
  snippet,
};

function read(values: FormValues, problems: Problems): FormResult {
  const project = values["project"] ?? "";
  const [organizationId = "", projectId = "", ...more] = project.split("/");
  if (!UUID.test(organizationId) || !UUID.test(projectId) || more.length > 0)
    problems.add("project", "must be the IDs of organization and project, two UUIDs with a slash between");
  const { branch, tag } = branchOrTag(values, problems);
  const origin = problems.optional(values, {
    name: "origin",
    form: /^[\w.-]{1,100}(?:\/[\w.-]{1,100}){1,20}$/,
    what: "a repository such as github.com/acme/app",
  });
  if (branch + tag === "") problems.add("branch", "is required, or a tag; any branch is **");
  const kind = tag === "" ? "branch" : "tag";
  const name = branch + tag;
  const ref = `refs/${kind === "tag" ? "tags" : "heads"}/${name}`;
  const claim = (last: string): string => `oidc.circleci.com/${last}`;
  const warnings = isGlob(name) ? [globWarning(kind, name)] : [];
  if (origin === undefined)
    warnings.push({
      text: "Where the project passes secrets to builds of forks, their jobs can log in as well. The repository prevents that.",
    });
  return {
    match: {
      issuer: issuerOf(values, problems, `https://oidc.circleci.com/org/${organizationId}`),
      subjectPattern: `org/${organizationId}/project/${projectId}/user/[^/]+(/vcs-origin/.*)?`,
      ...audienceOf(values, problems),
      claims: {
        [claim("project-id")]: projectId,
        [claim("ssh-rerun")]: "false",
        ...(origin !== undefined && { [claim("vcs-origin")]: origin }),
        ...(!isGlob(name) && { [claim("vcs-ref")]: ref }),
      },
      claimPatterns: isGlob(name) ? { [claim("vcs-ref")]: globPattern(ref) } : {},
    },
    accepts: `CircleCI, of jobs of the project ${projectId} on ${refWords(kind, name)}; not of jobs that were restarted with SSH.`,
    warnings,
  };
}

function snippet(values: FormValues, place: SnippetPlace): Snippet {
  const image = imageOf(place, values["origin"]?.split("/").at(-1) ?? "");
  const claims = JSON.stringify({ aud: askedAudience(values, place) });
  return {
    where: ".circleci/config.yml",
    text: [
      "version: 2.1",
      "jobs:",
      "  push:",
      "    machine:",
      "      image: default",
      "    steps:",
      "      - checkout",
      `      - run: docker build -t ${image} .`,
      "      - run: |",
      `          circleci run oidc get --claims '${claims}' |`,
      `            ${loginLine(place)}`,
      `          docker push ${image}`,
      "workflows:",
      "  push:",
      "    jobs: [push]",
    ].join("\n"),
  };
}
