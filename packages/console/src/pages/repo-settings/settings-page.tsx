import { getRouteApi } from "@tanstack/react-router";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { useRights } from "../../lib/rights.ts";
import { Page } from "../../ui/page.tsx";
import { AboutForm } from "./about-form.tsx";
import { DeleteRepo } from "./delete-repo.tsx";
import { GateForm } from "./gate-form.tsx";
import { MirrorForm } from "./mirror-form.tsx";
import { PolicyForm } from "./policy-form.tsx";

const route = getRouteApi("/shell/repo/settings");

/** What can be set of a repo. Each form is saved by itself. */
export function SettingsPage() {
  const { name = "" } = route.useSearch();
  const { uid } = route.useLoaderData();
  const { data: repo } = useSuspenseQuery(query(getRepo, { uid }));
  const rights = useRights(uid);
  const mayNot = rights("CAP_REPO_UPDATE");
  const mayNotGovern = mayNot ?? rights("CAP_REPO_POLICY_UPDATE");
  return (
    <Page title="Settings" tabTitle={`Settings of ${name}`}>
      <AboutForm key={`about ${uid}`} repo={repo} disabledReason={mayNot} />
      <PolicyForm key={`policy ${uid}`} repo={repo} disabledReason={mayNotGovern} />
      <GateForm key={`gate ${uid}`} repo={repo} disabledReason={mayNotGovern} />
      <MirrorForm key={`mirror ${uid}`} repo={repo} disabledReason={mayNotGovern} mayNotSync={mayNot} />
      <DeleteRepo repo={repo} name={name} disabledReason={rights("CAP_REPO_DELETE")} />
    </Page>
  );
}
