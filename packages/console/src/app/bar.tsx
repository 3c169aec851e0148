import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { groupPath, groupsQuery } from "../lib/groups.ts";
import { Button } from "../ui/button.tsx";
import { usePageTitle } from "../ui/page-title.ts";
import { type Crumb, crumbsOf } from "./crumbs.ts";
import { useOrganizations } from "./organization.ts";
import styles from "./shell.module.css";

export interface BarProps {
  pathname: string;
  isLoading: boolean;
  isNavOpen: boolean;
  onNav: () => void;
  onSearch: () => void;
}

/** Above every page: the way to it, from the organization down. */
export function Bar({ pathname, isLoading, isNavOpen, onNav, onSearch }: BarProps) {
  const { current } = useOrganizations();
  const title = usePageTitle();
  const name = useRouterState({ select: ({ location }) => (location.search as { name?: string }).name ?? "" });
  const crumbs = crumbsOf(pathname, name, title);
  return (
    <header className={styles.bar}>
      <Button
        look="quiet"
        className={styles.phoneOnly ?? ""}
        aria-label="Navigation"
        aria-expanded={isNavOpen}
        onClick={onNav}
        icon={<MenuIcon size={20} aria-hidden />}
      />
      <nav className={styles.crumbs} aria-label="Breadcrumbs">
        <ol>
          {current !== undefined && (
            <li>
              <Link to="/" search={{ group: current.uid }}>
                {current.name}
              </Link>
            </li>
          )}
          {crumbs.map((crumb, at) => (
            <li key={`${at} ${crumb.label}`}>
              <Step crumb={crumb} isLast={at === crumbs.length - 1} />
            </li>
          ))}
        </ol>
      </nav>
      <Button
        look="quiet"
        className={styles.phoneOnly ?? ""}
        aria-label="Search"
        onClick={onSearch}
        icon={<Search size={20} aria-hidden />}
      />
      <div className={styles.progress} data-active={isLoading || undefined} role="status">
        <span className="visually-hidden">{isLoading ? "Loading" : ""}</span>
      </div>
    </header>
  );
}

function Step({ crumb: { label, href, group }, isLast }: { crumb: Crumb; isLast: boolean }) {
  if (isLast) return <span aria-current="page">{label}</span>;
  if (group !== undefined) return <GroupStep label={label} path={group} />;
  return href === undefined ? <span>{label}</span> : <a href={href}>{label}</a>;
}

/** Apart from other steps: one that looks at groups and goes away cancels what the next page reads of them. */
function GroupStep({ label, path }: { label: string; path: string }) {
  const groups = useQuery(groupsQuery).data?.groups ?? [];
  const uid = groups.find((each) => groupPath(each.uid, groups) === path)?.uid;
  return uid === undefined ? <span>{label}</span> : <a href={`/images?group=${encodeURIComponent(uid)}`}>{label}</a>;
}
