import { Link, useRouteContext } from "@tanstack/react-router";
import { KeyRound, MonitorSmartphone, User } from "lucide-react";
import type { ReactNode } from "react";
import { Avatar } from "../../ui/avatar.tsx";
import { Page } from "../../ui/page.tsx";
import { SideList } from "../../ui/side-list.tsx";
import styles from "./profile-frame.module.css";

const PARTS = [
  ["/profile", "Profile", User],
  ["/profile/tokens", "Tokens", KeyRound],
  ["/profile/sessions", "Sessions", MonitorSmartphone],
] as const;

export interface ProfileFrameProps {
  /** The title of the browser's tab. */
  tabTitle: string;
  children: ReactNode;
}

/** What the pages of who is signed in have in common: who that is, and the way from one page to the others. */
export function ProfileFrame({ tabTitle, children }: ProfileFrameProps) {
  const { session } = useRouteContext({ from: "/shell" });
  const name = session.name || session.email || session.identity;
  return (
    <Page
      title={name}
      tabTitle={tabTitle}
      head={
        <header className={styles.head}>
          <Avatar name={name} size="large" />
          <div>
            <h1>{name}</h1>
            {session.email !== "" && session.email !== name && <p>{session.email}</p>}
          </div>
        </header>
      }
    >
      <div className={styles.layout}>
        <SideList label="Your account">
          {PARTS.map(([to, label, Icon]) => (
            <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
              <Icon size={16} strokeWidth={1.75} aria-hidden />
              {label}
            </Link>
          ))}
        </SideList>
        <div className={styles.content}>{children}</div>
      </div>
    </Page>
  );
}
