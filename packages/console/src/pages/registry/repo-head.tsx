import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock, Container, Tag } from "lucide-react";
import type { ReactNode } from "react";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { counted } from "../../lib/bytes.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { tabCount, Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { Deprecated } from "./deprecation-note.tsx";
import { PullBox } from "./pull-box.tsx";
import { PullFact } from "./pull-fact.tsx";
import styles from "./repo-head.module.css";
import { SignedBadge } from "../security/signed-badge.tsx";

type RepoPart = "tags" | "readme" | "pulls" | "settings";

export interface RepoHeadProps {
  /** The path, such as `acme/team/app`. */
  name: string;
  uid: string;
  part: RepoPart;
  /** How many tags there are, when it is known. */
  tags?: number | undefined;
  /** The tag that the pull command names. */
  newest?: string | undefined;
  /** What that tag points to: whether it is signed stands beside the name. */
  digest?: string | undefined;
}

/** What every page of an image begins with: its name, its facts, and the commands that pull and push it. */
export function RepoHead({ name, uid, part, tags, newest, digest }: RepoHeadProps) {
  const { data: repo } = useSuspenseQuery(query(getRepo, { uid }));
  const slash = name.lastIndexOf("/") + 1;
  const gate = repo.tagPolicy?.vulnerabilities;
  return (
    <>
      <header className={styles.head}>
        <span className={styles.tile}>
          <Container size={20} strokeWidth={1.75} aria-hidden />
        </span>
        <div className={styles.titles}>
          <div className={styles.name}>
            <h1>
              <span>{name.slice(0, slash)}</span>
              {name.slice(slash)}
            </h1>
            <CopyButton text={name} label="Copy the name" />
            {digest !== undefined && (
              <SignedBadge repo={name} repoUid={uid} digest={digest} subject="the newest version" />
            )}
            {repo.syncConfig !== undefined && <Badge look="accent">Mirror</Badge>}
            {gate !== undefined && <Badge look="outline">Gate</Badge>}
            {repo.deprecation !== undefined && <Badge look="warning">Deprecated</Badge>}
          </div>
          {repo.description !== "" && <p className={styles.lede}>{repo.description}</p>}
          <ul className={styles.facts}>
            {tags !== undefined && (
              <li>
                <Tag size={16} aria-hidden /> {counted(tags, "tag")}
              </li>
            )}
            <li>
              <Clock size={16} aria-hidden />
              <span>
                Updated <Time value={repo.updateTime} />
              </span>
            </li>
            <PullFact repoUid={uid} />
          </ul>
          {repo.deprecation !== undefined && (
            <div className={styles.remark}>
              <Deprecated deprecation={repo.deprecation} />
            </div>
          )}
        </div>
        <PullBox name={name} tag={newest} />
      </header>
      <Tabs label="Parts of the image">
        <PartLink name={name} isHere={part === "tags"}>
          Tags {tags !== undefined && tabCount(tags)}
        </PartLink>
        {(repo.readme !== "" || part === "readme") && (
          <PartLink name={name} isHere={part === "readme"} part="readme">
            Readme
          </PartLink>
        )}
        <PartLink name={name} isHere={part === "pulls"} part="pulls">
          Pulls
        </PartLink>
        <Link to="/repo/settings" search={{ name }} aria-current={part === "settings" ? "page" : undefined}>
          Settings
        </Link>
      </Tabs>
    </>
  );
}

interface PartLinkProps {
  name: string;
  isHere: boolean;
  part?: string;
  children: ReactNode;
}

function PartLink({ name, isHere, part, children }: PartLinkProps) {
  return (
    <Link
      to="/repo"
      search={{ name, ...(part !== undefined && { part }) }}
      activeOptions={{ exact: true }}
      activeProps={{ "aria-current": undefined, "data-status": undefined } as object}
      aria-current={isHere ? "page" : undefined}
    >
      {children}
    </Link>
  );
}
