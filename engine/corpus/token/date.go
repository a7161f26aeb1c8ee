package token

import "strings"

// date returns the length of a date or a time of the day at the start of s, which is a digit; 0 if there is none.
//
//	2024-01-31   2024/1/31   31.12.2024   12/31/24   2024年1月31日   1月31日   31 January 2024   12:30:59
func date(s string) int {
	a := digits(s)
	if a > 4 || a == len(s) {
		return 0
	}
	rest := s[a:]
	switch {
	case a <= 2 && rest[0] == ':':
		return timeOfDay(s)
	case rest[0] == '-' || rest[0] == '/' || rest[0] == '.':
		b := digits(rest[1:])
		if b < 1 || b > 2 || len(rest) < b+3 || rest[1+b] != rest[0] {
			return 0
		}
		c := digits(rest[b+2:])
		n := a + b + c + 2
		if !(a == 4 && (c == 1 || c == 2) || a <= 2 && (c == 2 || c == 4)) || n < len(s) && isLetter(s[n]) && s[n] != 'T' {
			return 0
		}
		if n+1 < len(s) && s[n] == 'T' {
			n += 1 + timeOfDay(s[n+1:])
		}
		return n
	case a == 4 && strings.HasPrefix(rest, "年"):
		return a + len("年") + chineseDay(rest[len("年"):])
	case a <= 2:
		if n := chineseDay(s); n > 0 {
			return n
		}
		return dayMonth(s, a)
	}
	return 0
}

// chineseDay returns the length of a month with or without its day, such as 1月31日.
func chineseDay(s string) int {
	m := digits(s)
	if m < 1 || m > 2 || !strings.HasPrefix(s[m:], "月") {
		return 0
	}
	n := m + len("月")
	if d := digits(s[n:]); d >= 1 && d <= 2 && strings.HasPrefix(s[n+d:], "日") {
		return n + d + len("日")
	}
	return n
}

// timeOfDay returns the length of 12:30 or 12:30:59, with the fraction and zone of RFC 3339 if they are there.
func timeOfDay(s string) int {
	h := digits(s)
	if h < 1 || h > 2 || h+3 > len(s) || s[h] != ':' || digits(s[h+1:]) != 2 {
		return 0
	}
	n := h + 3
	if n+3 <= len(s) && s[n] == ':' && digits(s[n+1:]) == 2 {
		n += 3
		if n+1 < len(s) && s[n] == '.' {
			n += 1 + digits(s[n+1:])
		}
	}
	if n < len(s) && s[n] == 'Z' {
		n++
	} else if n+6 <= len(s) && (s[n] == '+' || s[n] == '-') && digits(s[n+1:]) == 2 && s[n+3] == ':' && digits(s[n+4:]) == 2 {
		n += 6
	}
	return n
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// month returns the length of a month's name at the start of s, whole or its first three letters with or without a point.
func month(s string) int {
	n := 0
	for n < len(s) && n <= len("september") && isLetter(s[n]) {
		n++
	}
	if n < 3 {
		return 0
	}
	for _, name := range months {
		if strings.EqualFold(s[:n], name) || n == 3 && strings.EqualFold(s[:n], name[:3]) || n == 4 && strings.EqualFold(s[:n], "sept") {
			if n < len(name) && n < len(s) && s[n] == '.' {
				n++
			}
			return n
		}
	}
	return 0
}

// monthDate returns the length of January 31, 2024, of Jan 31 and of January 2024.
func monthDate(s string) int {
	m := month(s)
	if m == 0 || m == len(s) || s[m] != ' ' {
		return 0
	}
	d := digits(s[m+1:])
	if d == 4 {
		return m + 5
	}
	if d < 1 || d > 2 {
		return 0
	}
	n := m + 1 + d + ordinal(s[m+1+d:])
	return n + year(s[n:])
}

// dayMonth returns the length of 31 January 2024 and of 31st January; day is that of its digits.
func dayMonth(s string, day int) int {
	n := day + ordinal(s[day:])
	if n == len(s) || s[n] != ' ' {
		return 0
	}
	m := month(s[n+1:])
	if m == 0 {
		return 0
	}
	n += 1 + m
	return n + year(s[n:])
}

// ordinal returns the length of st, nd, rd or th at the start of s.
func ordinal(s string) int {
	if len(s) >= 2 && (len(s) == 2 || !isWordByte(s[2])) {
		switch s[:2] {
		case "st", "nd", "rd", "th":
			return 2
		}
	}
	return 0
}

// year returns the length of a year behind a day and month, with the comma and space before it.
func year(s string) int {
	n := 0
	if n < len(s) && s[n] == ',' {
		n++
	}
	if n < len(s) && s[n] == ' ' && digits(s[n+1:]) == 4 {
		return n + 5
	}
	return 0
}
