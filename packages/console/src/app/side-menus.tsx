import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { ChevronsUpDown, Ellipsis, KeyRound, LogOut, MonitorSmartphone, Moon, Sun, SunMoon, User } from "lucide-react";
import { cloneElement, lazy, type ReactElement, Suspense, useState } from "react";
import { leave } from "../routing/leave.ts";
import { Avatar } from "../ui/avatar.tsx";
import type { MenuProps } from "../ui/menu.tsx";
import { useOrganizations } from "./organization.ts";
import styles from "./side.module.css";
import { readTheme, setTheme, type Theme } from "./theme.ts";

// After the frame: it is half as large as all else in it.
const Menu = lazy(() => import("../ui/menu.tsx").then(({ Menu: component }) => ({ default: component })));

const THEMES = [
  ["system", "Theme: System", SunMoon],
  ["light", "Theme: Light", Sun],
  ["dark", "Theme: Dark", Moon],
] as const;

function LateMenu({ trigger, ...rest }: MenuProps & { trigger: ReactElement<Record<string, unknown>> }) {
  return (
    <Suspense fallback={cloneElement(trigger, { "aria-disabled": true })}>
      <Menu trigger={trigger} {...rest} />
    </Suspense>
  );
}

/** At the top left: whose images and people the pages show. */
export function OrganizationMenu() {
  const { all, current } = useOrganizations();
  const navigate = useNavigate();
  const name = current?.name ?? "All organizations";
  const show = (group: string | undefined): void => void navigate({ to: "/", search: { group } });
  return (
    <LateMenu
      label="Organization"
      align="start"
      trigger={
        <button type="button" className={styles.org}>
          <img src="/console/icon.svg" width={24} height={24} alt="" />
          <span>{all === undefined ? "" : name}</span>
          <span className={`visually-hidden ${styles.named}`}>, choose an organization</span>
          <ChevronsUpDown size={14} aria-hidden />
        </button>
      }
      items={[
        ...(all ?? []).map(({ uid, name }) => ({
          label: name,
          isChosen: uid === current?.uid,
          onSelect: () => show(uid),
        })),
        ...(all?.length === 1
          ? []
          : [{ label: "All organizations", isChosen: current === undefined, onSelect: () => show(undefined) }]),
      ]}
    />
  );
}

/** At the foot: who is signed in, their own pages, and the theme. */
export function AccountMenu() {
  const { session } = useRouteContext({ from: "/shell" });
  const navigate = useNavigate();
  const [theme, show] = useState(readTheme);
  const change = (wanted: Theme): void => {
    setTheme(wanted);
    show(wanted);
  };
  const name = session.name || session.email || session.identity;
  return (
    <LateMenu
      label="Account"
      align="start"
      trigger={
        <button type="button" className={styles.me}>
          <Avatar name={name} />
          <span className={`visually-hidden ${styles.named}`}>Account of </span>
          <span>
            <b className={styles.cut}>{name}</b>
            {session.email !== "" && session.email !== name && <small className={styles.cut}>{session.email}</small>}
          </span>
          <Ellipsis size={16} aria-hidden />
        </button>
      }
      head={
        <>
          Signed in as <strong>{name}</strong>
        </>
      }
      items={[
        { label: "Profile", icon: <User size={16} aria-hidden />, onSelect: () => void navigate({ to: "/profile" }) },
        {
          label: "Personal tokens",
          icon: <KeyRound size={16} aria-hidden />,
          onSelect: () => void navigate({ to: "/profile/tokens" }),
        },
        {
          label: "Sessions",
          icon: <MonitorSmartphone size={16} aria-hidden />,
          onSelect: () => void navigate({ to: "/profile/sessions" }),
        },
        ...THEMES.map(([each, label, Icon]) => ({
          label,
          icon: <Icon size={16} aria-hidden />,
          isChosen: theme === each,
          onSelect: () => change(each),
        })),
        { label: "Sign out", icon: <LogOut size={16} aria-hidden />, onSelect: () => void leave() },
      ]}
    />
  );
}
