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
  issuerOf,
  literal,
  loginLine,
  refWords,
  TAG,
  UUID,
} from "./parts.ts";

const ID = { form: UUID, what: "a UUID" };

/**
 * Jobs of Buildkite. All organizations have the issuer `https://agent.buildkite.com`; the subject is
 * `organization:ORG:pipeline:PIPELINE:ref:refs/heads/BRANCH:commit:SHA:step:KEY`, with `refs/tags/TAG` where the build
 * has a tag. `organization_id` and `pipeline_id` are in a token that asks for them.
 *
 * Source: https://buildkite.com/docs/agent/v3/cli-oidc
 */
export const BUILDKITE: MachineForm = {
  name: "buildkite",
  title: "Buildkite",
  fields: [
    { name: "pipeline", label: "Pipeline", help: "organization/pipeline, as in its URL" },
    BRANCH,
    TAG,
    { name: "organizationId", label: "Organization ID", help: "its UUID, which nobody else gets" },
    { name: "pipelineId", label: "Pipeline ID", help: "its UUID, which no other pipeline gets" },
    AUDIENCE,
  ],
  read,
  snippet,
};

function read(values: FormValues, problems: Problems): FormResult {
  const path = problems.exact(values, {
    name: "pipeline",
    form: /^[\w-]{1,100}\/[\w-]{1,100}$/,
    what: "organization/pipeline of one pipeline",
  });
  const [organization = "", pipeline = ""] = path.split("/");
  const { branch, tag } = branchOrTag(values, problems);
  const organizationId = problems.optional(values, { name: "organizationId", ...ID });
  const pipelineId = problems.optional(values, { name: "pipelineId", ...ID });
  if (branch + tag === "") problems.add("branch", "is required, or a tag; any branch is **");
  const kind = tag === "" ? "branch" : "tag";
  const name = branch + tag;
  const ref = `refs/${kind === "tag" ? "tags" : "heads"}/`;
  const claim = kind === "tag" ? "build_tag" : "build_branch";
  const warnings = isGlob(name) ? [globWarning(kind, name)] : [];
  if (kind === "branch")
    warnings.push({
      text: "Where the pipeline builds pull requests of forks, have it prefix their branch names: otherwise a fork's branch of the same name can log in.",
    });
  if (organizationId === undefined)
    warnings.push({
      text: `Whoever gets the name ${organization} after it was given up can log in. The organization's ID prevents that.`,
    });
  return {
    match: {
      issuer: issuerOf(values, problems, "https://agent.buildkite.com"),
      subjectPattern: `organization:${literal(organization)}:pipeline:${literal(pipeline)}:ref:${ref}${globPattern(name)}:commit:[^:]+:step:.*`,
      ...audienceOf(values, problems),
      claims: {
        organization_slug: organization,
        pipeline_slug: pipeline,
        ...(organizationId !== undefined && { organization_id: organizationId }),
        ...(pipelineId !== undefined && { pipeline_id: pipelineId }),
        ...(!isGlob(name) && { [claim]: name }),
      },
      claimPatterns: isGlob(name) ? { [claim]: globPattern(name) } : {},
    },
    accepts: `Buildkite, of jobs of the pipeline ${path} on ${refWords(kind, name)}.`,
    warnings,
  };
}

function snippet(values: FormValues, place: SnippetPlace): Snippet {
  const image = imageOf(place, values["pipeline"]?.split("/").at(-1) ?? "");
  const claims = [values["organizationId"] && "organization_id", values["pipelineId"] && "pipeline_id"].filter(Boolean);
  const asked = claims.length === 0 ? "" : ` --claim ${claims.join(",")}`;
  const { branch = "" } = values;
  const filter = branch === "" || isGlob(branch) ? [] : [`    branches: ${JSON.stringify(branch)}`];
  return {
    where: ".buildkite/pipeline.yml",
    text: [
      "steps:",
      "  - label: push",
      ...filter,
      "    command: |",
      `      docker build -t ${image} .`,
      `      buildkite-agent oidc request-token --audience ${askedAudience(values, place)}${asked} |`,
      `        ${loginLine(place)}`,
      `      docker push ${image}`,
    ].join("\n"),
  };
}
