import { getRouteApi, Link } from "@tanstack/react-router";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { ArchiveX, CircleSlash, RefreshCw, Shield, SlidersHorizontal, Tag, Trash2 } from "lucide-react";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { imageTagOf } from "../../lib/attached-tag.ts";
import { PublicAccess } from "../access/parts/public-access.tsx";
import { useRights } from "../../lib/rights.ts";
import { Page } from "../../ui/page.tsx";
import { SideList } from "../../ui/side-list.tsx";
import { newestTagsQuery } from "../registry/queries.ts";
import { RepoHead } from "../registry/repo-head.tsx";
import styles from "./settings-page.module.css";
import { AboutForm } from "./about-form.tsx";
import { DeleteRepo } from "./delete-repo.tsx";
import { DeprecationForm } from "./deprecation-form.tsx";
import { GateForm } from "./gate-form.tsx";
import { MirrorForm } from "./mirror-form.tsx";
import { PolicyForm } from "./policy-form.tsx";
import { RetentionForm } from "./retention-form.tsx";

const route = getRouteApi("/shell/repo/settings");

const SECTIONS = [
  ["general", "General", SlidersHorizontal],
  ["tags", "Tag rules", Tag],
  ["retention", "Retention", ArchiveX],
  ["gate", "Vulnerability gate", Shield],
  ["mirror", "Mirror", RefreshCw],
  ["deprecation", "Deprecation", CircleSlash],
  ["delete", "Delete image", Trash2],
] as const;
const FIRST = "general";

/** What can be set of a repo. Each form is saved by itself. */
export function SettingsPage() {
  const { name = "", part: wanted } = route.useSearch();
  const part = SECTIONS.find(([id]) => id === wanted)?.[0] ?? FIRST;
  const { uid } = route.useLoaderData();
  const { data: repo } = useSuspenseQuery(query(getRepo, { uid }));
  const rights = useRights(uid);
  const mayNot = rights("CAP_REPO_UPDATE");
  const mayNotGovern = mayNot ?? rights("CAP_REPO_POLICY_UPDATE");
  const tags = useQuery(newestTagsQuery(uid));
  const total = tags.data?.totalCount;
  return (
    <Page
      title={name}
      tabTitle={`Settings of ${name}`}
      head={
        <RepoHead
          name={name}
          uid={uid}
          part="settings"
          tags={total === undefined ? undefined : Number(total)}
          newest={imageTagOf(tags.data?.tags ?? [])?.name}
        />
      }
    >
      <div className={styles.layout}>
        <SideList label="Settings">
          {SECTIONS.map(([id, label, Icon]) => (
            <Link
              key={id}
              to="/repo/settings"
              search={{ name, ...(id !== FIRST && { part: id }) }}
              activeOptions={{ exact: true }}
              activeProps={{ "aria-current": undefined, "data-status": undefined } as object}
              aria-current={id === part ? "page" : undefined}
              {...(id === "delete" && { className: styles.danger })}
            >
              <Icon size={16} strokeWidth={1.75} aria-hidden />
              {label}
            </Link>
          ))}
        </SideList>
        <div className={styles.forms}>
          {part === "general" && <PublicAccess uid={uid} />}
          {part === "general" && <AboutForm key={uid} repo={repo} disabledReason={mayNot} />}
          {part === "tags" && <PolicyForm key={uid} repo={repo} disabledReason={mayNotGovern} />}
          {part === "retention" && <RetentionForm key={uid} repo={repo} disabledReason={mayNotGovern} />}
          {part === "gate" && <GateForm key={uid} repo={repo} path={name} disabledReason={mayNotGovern} />}
          {part === "mirror" && <MirrorForm key={uid} repo={repo} disabledReason={mayNotGovern} mayNotSync={mayNot} />}
          {part === "deprecation" && <DeprecationForm key={uid} repo={repo} disabledReason={mayNot} />}
          {part === "delete" && <DeleteRepo repo={repo} name={name} disabledReason={rights("CAP_REPO_DELETE")} />}
        </div>
      </div>
    </Page>
  );
}
