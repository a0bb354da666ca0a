#!/usr/bin/python3
"""Logs in to a Horizon with a browser, as people do who have their accounts elsewhere: with a password in the domain
of a directory, or at a provider. They see a project of theirs, and log out.

Usage: login.py domain|provider NAME USER PROJECT <PASSWORD
Environment: as for browse.py
"""

import sys

from browse import log_out, see_the_project, somebody
from selenium.webdriver.support.ui import Select


def log_in(person, domain, user, password):
    """Logs in with a password in a domain."""
    person.sees("#id_username").send_keys(user)
    person.sees("#id_password").send_keys(password)
    Select(person.sees("#id_domain")).select_by_visible_text(domain)
    person.sees("#loginBtn").click()


def log_in_at(person, provider, user, password):
    """Logs in at a provider, from which the browser comes back by way of Keystone."""
    Select(person.sees("#id_auth_type")).select_by_visible_text(provider)
    person.sees("#loginBtn").click()
    person.sees("#username").send_keys(user)
    person.sees("#password").send_keys(password)
    person.photographs("provider")
    person.sees("#login").click()


def main():
    where, name, user, project = sys.argv[1:]
    password = sys.stdin.readline().strip("\n")
    with somebody() as person:
        person.open("/")
        person.photographs("choices")
        {"domain": log_in, "provider": log_in_at}[where](person, name, user, password)
        person.sees(".context-project, .dropdown-toggle .user-name, a[href*='/auth/logout']")
        see_the_project(person, project)
        log_out(person)


if __name__ == "__main__":
    main()
